import { groupBy } from '../base/collections.ts';

/** An installed extension. Its manifest is untrusted. */
export interface InstalledExtension {
  readonly id: string;
  readonly packageJSON: unknown;
}

/** Groups ids by the extension that declares them; undeclared ids are under `undefined`. */
export function groupByOwner<T extends InstalledExtension>(
  ids: readonly string[],
  extensions: readonly T[],
): ReadonlyMap<T | undefined, readonly string[]> {
  return groupBy(ids, (id) => extensions.find(({ packageJSON }) => declaredIds(packageJSON).includes(id)));
}

/** Ids in menus and keybindings are references, not declarations. */
function declaredIds(manifest: unknown): readonly unknown[] {
  const { contributes, activationEvents } = fieldsOf(manifest);
  const { commands, mcpServerDefinitionProviders } = fieldsOf(contributes);
  return [
    ...[commands].flat().map((each) => fieldsOf(each)['command']),
    ...[mcpServerDefinitionProviders].flat().map((each) => fieldsOf(each)['id']),
    ...[activationEvents]
      .flat()
      .map((event) => /^on(?:WebviewPanel|FileSystem):(.+)$/.exec(String(event))?.[1]),
  ];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
