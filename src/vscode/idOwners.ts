import { groupBy } from '../base/json.ts';

/** An installed extension, as the editor describes it. Other people write the manifest, so it can hold anything. */
export interface InstalledExtension {
  readonly id: string;
  readonly packageJSON: unknown;
}

/** Groups ids by the extension that declares them; ids that no extension declares come under `undefined`. */
export function groupByOwner<T extends InstalledExtension>(
  ids: readonly string[],
  extensions: readonly T[],
): ReadonlyMap<T | undefined, readonly string[]> {
  return groupBy(ids, (id) => extensions.find(({ packageJSON }) => declaredIds(packageJSON).includes(id)));
}

/** Ids that are only mentioned, in a menu or a keybinding for example, belong to another extension. */
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
