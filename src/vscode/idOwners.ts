import { groupBy } from '../base/collections.ts';

/** Groups ids by the extension that declares them; undeclared ids are under `undefined`. */
export function groupByOwner<T extends { readonly packageJSON: unknown }>(
  ids: readonly string[],
  extensions: readonly T[],
): ReadonlyMap<T | undefined, readonly string[]> {
  return groupBy(ids, (id) => extensions.find(({ packageJSON }) => declaredIds(packageJSON).includes(id)));
}

/** The manifest is untrusted. Ids in menus and keybindings are references, not declarations. */
function declaredIds(manifest: unknown): readonly unknown[] {
  const { contributes, activationEvents } = fieldsOf(manifest);
  const { commands, mcpServerDefinitionProviders } = fieldsOf(contributes);
  const events = [activationEvents].flat();
  return [
    ...[commands].flat().map((each) => fieldsOf(each)['command']),
    ...[mcpServerDefinitionProviders].flat().map((each) => fieldsOf(each)['id']),
    ...events.map((event) => /^on(?:WebviewPanel|FileSystem):(.+)$/.exec(String(event))?.[1]),
  ];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
