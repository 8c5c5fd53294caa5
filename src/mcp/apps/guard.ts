/** Elements that would have a window of their own. */
const FRAMES = 'iframe|frame|object|embed|fencedframe|portal';
/** The start of their tags, in HTML and with a prefix in XML. */
const TAG = `<(?=(?:[^\\s<>/:]+:)?(?:${FRAMES})[\\s/>])`;

/** The page without frames. They have no meaning in an app, because its policy loads nothing into them. */
export function withoutFrames(html: string): string {
  return html.replace(new RegExp(TAG, 'gi'), '<x-');
}

/**
 * Runs before any script of an app. WebRTC is a way to the network that policies do not cover in all browsers, and a
 * frame has a WebRTC of its own. Removing frames as they appear is not enough: shadow roots hide them, and an app can
 * change the functions that would remove them. So none can be made: not by name, from text, or as the base of a custom
 * element. Functions are used as they were at the start, and values are converted once.
 */
export const GUARD = `<script>(() => {
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
  const { exec, [Symbol.replace]: replace } = RegExp.prototype;
  const remove = (owner, ...names) => {
    for (const name of names) defineProperty(owner, name, { value: undefined, writable: false, configurable: false });
  };
  remove(globalThis, 'RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport', 'XSLTProcessor');
  const fixed = (pattern, flags) => {
    const expression = new RegExp(pattern, flags);
    defineProperty(expression, 'exec', { value: exec });
    return defineProperty(expression, 'flags', { value: flags });
  };
  const TAG = fixed(${JSON.stringify(TAG)}, 'gi');
  const ENTITY = fixed('<!ENTITY', 'gi');
  const NAME = fixed('^(?:[^:]*:)?(?:${FRAMES})$', 'i');
  const text = (value) => apply(replace, ENTITY, [apply(replace, TAG, [value === null ? '' : \`\${value}\`, '<x-']), '<x-']);
  const name = (value) => (apply(exec, NAME, [(value = \`\${value}\`)]) ? 'x-frame' : value);
  const wrap = (owner, property, at, change) => {
    const found = owner && getOwnPropertyDescriptor(owner, property);
    const key = found?.set ? 'set' : 'value';
    const call = found?.[key];
    if (typeof call !== 'function') return;
    const wrapped = function (...values) {
      if (values.length > at) values[at] = change(values[at]);
      return apply(call, this, values);
    };
    defineProperty(owner, property, { ...found, [key]: wrapped });
  };
  wrap(Document.prototype, 'createElement', 0, name);
  wrap(Document.prototype, 'createElementNS', 1, name);
  wrap(DOMImplementation.prototype, 'createDocument', 1, (value) => (value === null ? value : name(value)));
  wrap(CustomElementRegistry.prototype, 'define', 2, (options) => {
    const base = options?.extends;
    return base === undefined ? undefined : { extends: name(base) };
  });
  wrap(DOMParser.prototype, 'parseFromString', 0, text);
  wrap(Range.prototype, 'createContextualFragment', 0, text);
  wrap(Document.prototype, 'execCommand', 2, text);
  wrap(Element.prototype, 'insertAdjacentHTML', 1, text);
  for (const owner of [Element.prototype, ShadowRoot.prototype, Document]) {
    for (const property of getOwnPropertyNames(owner)) {
      if (/^stream/.test(property)) remove(owner, property);
      else if (/HTML/.test(property) && !/^(?:get|insert)/.test(property)) wrap(owner, property, 0, text);
    }
  }
  remove(Document.prototype, 'write', 'writeln');
  remove(XMLHttpRequest.prototype, 'responseXML');
  wrap(XMLHttpRequest.prototype, 'responseType', 0, (type) => ((type = \`\${type}\`) === 'document' ? 'text' : type));
  document.currentScript.remove();
})()</script>`;
