/**
 * What can be done in the preview of a chat: copy code, and look at a picture in full size. Listens at the document,
 * so that it has nothing to do when the preview is updated, however long the chat is. Elsewhere it does nothing.
 */
(() => {
  const COPIED_MS = 1600;

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const copy = target?.closest('.filechat-copy');
    const picture = target?.closest('.filechat-image');
    if (copy) void copyCode(copy);
    else if (picture) showPicture(picture);
  });

  /** A word that the plugin has put into the page, in the user's language. */
  function word(name) {
    return document.getElementById('filechat-preview')?.dataset[name] ?? '';
  }

  async function copyCode(button) {
    const code = button.parentElement?.querySelector('pre > code');
    if (!code || !(await writeClipboard(code))) return;
    button.classList.add('filechat-copied');
    say(word('copied'));
    setTimeout(() => button.classList.remove('filechat-copied'), COPIED_MS);
  }

  async function writeClipboard(code) {
    try {
      await navigator.clipboard.writeText(code.textContent ?? '');
      return true;
    } catch {
      const selection = window.getSelection();
      selection?.selectAllChildren(code);
      const isCopied = document.execCommand('copy');
      selection?.removeAllRanges();
      return isCopied;
    }
  }

  /** Tells who cannot see it. A region speaks when its text changes, so it must have been empty before. */
  function say(text) {
    let region = document.getElementById('filechat-status');
    if (!region) {
      region = document.createElement('div');
      region.id = 'filechat-status';
      region.setAttribute('role', 'status');
      document.body.append(region);
    }
    region.textContent = '';
    requestAnimationFrame(() => {
      region.textContent = text;
    });
  }

  /** The browser keeps the focus in a modal dialog, closes it with Escape, and gives the focus back. */
  function showPicture(button) {
    const picture = button.querySelector('img');
    if (!picture) return;
    const dialog = document.createElement('dialog');
    dialog.className = 'filechat-lightbox';
    const name = picture.alt || button.getAttribute('aria-label') || '';
    dialog.setAttribute('aria-label', name);
    const large = document.createElement('img');
    large.src = picture.currentSrc || picture.src;
    large.alt = name;
    const caption = document.createElement('p');
    caption.textContent = name;
    const close = document.createElement('button');
    close.type = 'button';
    close.className = 'filechat-close';
    close.setAttribute('aria-label', word('close'));
    close.title = word('close');
    dialog.append(large, caption, close);
    dialog.addEventListener('click', () => dialog.close());
    // A double click elsewhere in the preview goes to the editor.
    dialog.addEventListener('dblclick', (event) => event.stopPropagation());
    dialog.addEventListener('close', () => {
      dialog.remove();
      button.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
    close.focus();
  }
})();
