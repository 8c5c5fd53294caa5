/** What stands at a place of a schema: a schema itself, schemas by names of any kind, or plain data. */
export type SchemaPlace = 'schema' | 'map' | 'data';

const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** What stands under a key. Lists of schemas, and keywords that nobody knows, count as schemas. */
export function placeUnder(place: SchemaPlace, key: string): SchemaPlace {
  if (place === 'data') return 'data';
  if (place === 'map') return 'schema';
  return MAPS.has(key) ? 'map' : DATA.has(key) ? 'data' : 'schema';
}
