/** Stands where the documented rules tell nothing: an item is never guessed to be anything. */
export const UNCLASSIFIED = 'unclassified';

export const INSTRUMENT_TYPES = [
  'law',
  'regulation',
  'guidance',
  'standard',
  'consultation',
  'enforcement',
  'court-order',
  UNCLASSIFIED,
] as const;
export type InstrumentType = (typeof INSTRUMENT_TYPES)[number];

export const REG_STATUSES = [
  'proposed',
  'adopted',
  'in-force',
  'amended',
  'postponed',
  'stayed',
  'repealed',
  'withdrawn',
  UNCLASSIFIED,
] as const;
export type RegStatus = (typeof REG_STATUSES)[number];

/** `new`: first seen. `changed`: its source says something else now. `corrected`: the operator does. */
export const CHANGE_TYPES = ['new', 'changed', 'corrected'] as const;

/** A country or bloc, perhaps with a part of it (`US-CO`), or `unclassified`. */
export const JURISDICTION_PATTERN = '^(unclassified|[A-Z]{2,3}(-[A-Z0-9]{1,3})?)$';

/** Characters and entries at most. */
export const MAX_TITLE = 500;
export const MAX_SUMMARY = 1000;
export const MAX_AUTHORITY = 200;
export const MAX_CITATION = 200;
export const MAX_URL = 2000;
export const MAX_LABELS = 20;

export const REG_ITEM_ID_PATTERN = '^rgi_[0-9a-f]{32}$';
