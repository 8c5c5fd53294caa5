/** The tags of this name in XML, as functions that return an attribute. */
export function tagsOf(xml: string, name: string): readonly ((attribute: string) => string | undefined)[] {
  const tags = xml.matchAll(new RegExp(`<(?:[\\w-]+:)?${name}\\s([^>]*)>`, 'g'));
  return [...tags].map(([, attributes = '']) => (attribute) => {
    const match = new RegExp(`(?:^|\\s)${attribute}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
    return match?.[1] ?? match?.[2];
  });
}
