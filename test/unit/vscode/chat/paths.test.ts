import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, it } from 'node:test';
import { renderFileLink } from '../../../../src/chat/edits/fileLink.ts';
import { localTarget, readDestination } from '../../../../src/chat/format/links.ts';
import { linkToFile, readUriList, relativeTarget } from '../../../../src/vscode/chat/paths.ts';

describe('a link to a file', () => {
  const cases: readonly [chat: string, file: string, target: string][] = [
    ['/w/a.chat.md', '/w/data/sales.csv', 'data/sales.csv'],
    ['/w/chats/a.chat.md', '/w/data/sales 2.csv', '../data/sales%202.csv'],
    ['/w/a.chat.md', '/w/Größe (1).png', 'Größe%20%281%29.png'],
    ['/w/a.chat.md', '/w/a#b?c%20d.md', 'a%23b%3Fc%2520d.md'],
    ['/w/a.chat.md', '/w/c:d.txt', 'c%3Ad.txt'],
    ['/w/a.chat.md', "/w/*it's*!.md", '%2Ait%27s%2A%21.md'],
  ];
  for (const [chat, file, target] of cases) {
    it(`to ${file} has the target ${target}, which is read back`, () => {
      assert.equal(relativeTarget(chat, file), target);
      const read = readDestination(`${target})`, 0)?.target ?? '';
      assert.equal(posix.resolve(posix.dirname(chat), localTarget(read) ?? ''), file);
    });
  }

  it('has a label of one line without Markdown', () => {
    const link = { label: 'a]b[c\n`d` \u202e_e_.png', target: 'x.png', isImage: true };
    assert.equal(renderFileLink(link), '![a\\]b\\[c \\`d\\` \\_e\\_.png](x.png)');
    assert.equal(renderFileLink({ ...link, label: ' \n', isImage: false }), '[file](x.png)');
  });

  it('is relative to the chat, or absolute on another file system', () => {
    const at = (path: string, scheme = 'file') => ({
      scheme,
      authority: '',
      path,
      toString: () => `${scheme}://${path}`,
    });
    const chat = at('/w/a.chat.md');
    assert.equal(linkToFile(chat, at('/w/b/c.png')), '![c.png](b/c.png)');
    assert.equal(
      linkToFile(chat, at('/w/b/c.ts'), { label: 'draw()', fragment: '#L1-L3' }),
      '[draw()](b/c.ts#L1-L3)',
    );
    assert.equal(linkToFile(at('/new.chat.md', 'untitled'), at('/w/c.ts')), '[c.ts](file:///w/c.ts)');
  });

  it('in a URI list can be beside comments and any line ending', () => {
    assert.deepEqual(readUriList('# made by\r\nfile:///a\r\n\r\nfile:///b\n'), ['file:///a', 'file:///b']);
  });
});
