import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { fileToBase64, MAX_SIZE, sanitizeFilePath, toImageContent } from '../../../src/content/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { needsFifos, needsModes, needsSymlinks } from '../../windows/needs.ts';
import { SAMPLES } from './samples.ts';

const root = temporaryFolder({ after });
const base = join(root, 'base');
const at = (...names: string[]) => join(base, ...names);

mkdirSync(at('sub'), { recursive: true });
mkdirSync(join(root, 'base-evil'));
writeFileSync(at('a.png'), SAMPLES.png());
writeFileSync(at('sub', 'b.png'), SAMPLES.gif());
writeFileSync(join(root, 'secret.png'), SAMPLES.png());
writeFileSync(join(root, 'base-evil', 'c.png'), SAMPLES.png());
if (!needsSymlinks.skip) {
  symlinkSync(at('sub', 'b.png'), at('inward.png'));
  symlinkSync(join(root, 'secret.png'), at('outward.png'));
  symlinkSync(root, at('up'));
  symlinkSync(join(root, 'nowhere.png'), at('dangling.png'));
  symlinkSync('loop.png', at('loop.png'));
  symlinkSync(base, join(root, 'alias'));
}

describe('a path within a folder', () => {
  const needsOf = (name: string) => (/link|in it|another name/.test(name) ? needsSymlinks : {});
  const good: Readonly<Record<string, [written: string, path: string]>> = {
    'a name': ['a.png', at('a.png')],
    'a name with a dot before it': ['./a.png', at('a.png')],
    'a path up and back': ['sub/../a.png', at('a.png')],
    'an absolute path': [at('sub', 'b.png'), at('sub', 'b.png')],
    'an absolute path through another name of the folder': [join(root, 'alias', 'a.png'), at('a.png')],
    'a link to a file inside': ['inward.png', at('sub', 'b.png')],
    'a file that is not there yet': ['new.png', at('new.png')],
    'nor its folder': ['new/folder/x.png', at('new', 'folder', 'x.png')],
    'a name that begins with dots': ['..a.png', at('..a.png')],
    'the folder itself': ['.', base],
  };
  for (const [name, [written, path]] of Object.entries(good)) {
    it(`may be ${name}`, needsOf(name), () => {
      const folder = name.includes('another name') ? join(root, 'alias') : base;
      assert.equal(sanitizeFilePath(written, folder), path);
    });
  }

  const bad: Readonly<Record<string, string>> = {
    'the way up': '../secret.png',
    'a longer way up': 'sub/../../secret.png',
    'only the way up': '..',
    'an absolute path elsewhere': '/etc/passwd',
    'a folder whose name begins the same': join(root, 'base-evil', 'c.png'),
    'the same by a relative path': '../base-evil/c.png',
    'a link that leads out': 'outward.png',
    'a folder that is a link': 'up/secret.png',
    'a new file in it': 'up/new.png',
    'a link to a missing file': 'dangling.png',
    'a link to itself': 'loop.png',
    'a NUL': 'a.png\0.gif',
    'a path of Windows': 'C:\\Windows\\win.ini',
    'a drive alone': 'c:a.png',
    'a share of Windows': '\\\\server\\share\\a.png',
    'the way up of Windows': '..\\secret.png',
  };
  for (const [name, written] of Object.entries(bad)) {
    it(`is not ${name}`, needsOf(name), async () => {
      assert.throws(() => sanitizeFilePath(written, base), {
        message: `Path traversal detected: ${written}`,
      });
      await assert.rejects(fileToBase64(written, base), /^Error: Path traversal detected: /);
    });
  }

  it('is never elsewhere, however it is written', () => {
    const names = ['', 'sub', 'a.png', 'up', 'outward.png', 'base-evil', 'x', root];
    const piece = fc.constantFrom('..', '.', '/', '\\', ...names);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        let found: string;
        try {
          found = sanitizeFilePath(pieces.join('/'), base);
        } catch {
          return;
        }
        assert.ok(found === base || found.startsWith(base + sep), found);
      }),
    );
  });

  it('does not reveal whether a file exists elsewhere', () => {
    const ask = (path: string) => {
      try {
        return sanitizeFilePath(path, base);
      } catch (error) {
        return String(error).replace(path, 'PATH');
      }
    };
    assert.equal(ask('../secret.png'), ask('../no-secret.png'));
  });
});

describe('a file', () => {
  it('is read as base64', async () => {
    assert.equal(await fileToBase64('a.png', base), Buffer.from(SAMPLES.png()).toString('base64'));
  });

  it('counts from the working directory without a folder, and stays in it', async () => {
    assert.equal(await fileToBase64('LICENSE'), await fileToBase64(join(process.cwd(), 'LICENSE')));
    await assert.rejects(fileToBase64('../x.png'), /Path traversal detected: \.\.\/x\.png/);
  });

  it('that is not there is named as it was written', async () => {
    await assert.rejects(fileToBase64('./missing.png', base), {
      message:
        "Failed to read file './missing.png': File not found: ./missing.png. Check that the path is correct and the file exists.",
    });
    await assert.rejects(fileToBase64('a.png/x.png', base), /File not found: a\.png\/x\.png/);
  });

  it('of an absolute path is named without its folders', async () => {
    await assert.rejects(fileToBase64(join(root, 'missing.png')), (error: Error) => {
      assert.match(error.message, /^Failed to read file 'missing\.png': File not found: missing\.png\./);
      return !error.message.includes(root);
    });
  });

  it('without read permission is reported', needsModes, () => {
    writeFileSync(at('locked.png'), SAMPLES.png(), { mode: 0o000 });
    const content = new URL('../../../src/content/index.ts', import.meta.url).href;
    // Root may read everything, so another user tries it.
    const script = `
      const { fileToBase64 } = await import(${JSON.stringify(content)});
      if (process.getuid() === 0) process.seteuid(65534);
      await fileToBase64('locked.png', ${JSON.stringify(base)}).then(() => console.log('read'), (error) => console.log(error.message));
    `;
    execFileSync('chmod', ['755', root, base]);
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    assert.match(stdout, /^Failed to read file 'locked\.png': Permission denied\./);
  });

  it('must be a regular file: no folder, no pipe, no device', {
    timeout: 10_000,
    ...needsFifos,
  }, async () => {
    execFileSync('mkfifo', [at('pipe.png')]);
    for (const path of ['sub', '.', 'pipe.png'])
      await assert.rejects(
        fileToBase64(path, base),
        /^Error: Failed to read file '.*': Not a regular file\./,
      );
    await assert.rejects(fileToBase64('/dev/zero'), /Not a regular file/);
  });

  it('must not be empty', async () => {
    writeFileSync(at('empty.png'), '');
    await assert.rejects(fileToBase64('empty.png', base), /Cannot convert empty buffer/);
  });

  it('that is too large is not read; maxBytes raises or lowers the limit', async () => {
    writeFileSync(at('large.png'), SAMPLES.png());
    truncateSync(at('large.png'), 2 ** 40);
    await assert.rejects(fileToBase64('large.png', base), {
      message: `File too large: ${2 ** 40} bytes (max: ${MAX_SIZE}). Consider reducing image quality or splitting into smaller files.`,
    });
    const { length } = SAMPLES.png();
    await assert.rejects(
      fileToBase64('a.png', base, { maxBytes: length - 1 }),
      new RegExp(`File too large: ${length} bytes \\(max: ${length - 1}\\)`),
    );
    assert.ok(await fileToBase64('a.png', base, { maxBytes: length }));
  });

  it('behind a link that leads out is not read by any helper', needsSymlinks, async () => {
    for (const path of ['outward.png', 'up/secret.png'])
      await assert.rejects(
        toImageContent({ type: 'file', path }, { basePath: base }),
        /Path traversal detected/,
      );
    assert.equal((await toImageContent('inward.png', undefined, base)).mimeType, 'image/gif');
  });
});
