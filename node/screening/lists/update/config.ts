import type { ListId } from '../list-id.ts';

/** Where the files of lists are downloaded from: list → name of the file → address. */
export type ListSources = ReadonlyMap<ListId, ReadonlyMap<string, string>>;

export interface ListUpdateConfig {
  readonly sources: ListSources;
  /** Pause between two looks at a source. */
  readonly intervalMs: number;
}
