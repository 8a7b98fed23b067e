/** Two letters of the region and up to two digits: `eu`, `us2`. */
export type NodeId = string & { readonly __brand: 'NodeId' };
/** Typed prefix, node id and ULID: `att_eu_01J…`. Tells which node made it; nobody can guess it. */
export type RecordId = string & { readonly __brand: 'RecordId' };
/** Ledger entity, `shard.realm.num`. */
export type EntityId = string & { readonly __brand: 'EntityId' };

export const NODE_ID_PATTERN = '^[a-z]{2}[0-9]{0,2}$';
export const RECORD_ID_PATTERN = idPattern('[a-z]{3}');
export const ENTITY_ID_PATTERN = '^(0|[1-9]\\d{0,18})\\.(0|[1-9]\\d{0,18})\\.(0|[1-9]\\d{0,18})$';

const NODE_ID = new RegExp(NODE_ID_PATTERN);
const RECORD_ID = new RegExp(RECORD_ID_PATTERN);
const ENTITY_ID = new RegExp(ENTITY_ID_PATTERN);

/** The form of ids of a kind of thing: its prefix, then the node that made it, then a ULID. */
export function idPattern(prefix: string): string {
  return `^${prefix}_[a-z]{2}[0-9]{0,2}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`;
}

export class IdError extends Error {
  override readonly name = 'IdError';
}

export function isNodeId(text: string): text is NodeId {
  return NODE_ID.test(text);
}

export function isRecordId(text: string): text is RecordId {
  return RECORD_ID.test(text);
}

export function isEntityId(text: string): text is EntityId {
  return ENTITY_ID.test(text);
}

/** Throws `IdError` unless the text is a node id. */
export function nodeId(text: string): NodeId {
  if (!isNodeId(text)) throw new IdError(`not a node id: ${JSON.stringify(text.slice(0, 40))}`);
  return text;
}

/** Throws `IdError` unless the text is a record id. */
export function recordId(text: string): RecordId {
  if (!isRecordId(text)) throw new IdError(`not a record id: ${JSON.stringify(text.slice(0, 60))}`);
  return text;
}

/** Throws `IdError` unless the text is a ledger entity id. */
export function entityId(text: string): EntityId {
  if (!isEntityId(text)) throw new IdError(`not a ledger entity id: ${JSON.stringify(text.slice(0, 60))}`);
  return text;
}

/** The node that a record id names. */
export function nodeOfRecord(id: RecordId): NodeId {
  return nodeId(id.slice(4, id.lastIndexOf('_')));
}
