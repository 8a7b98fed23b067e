import type { ListId } from './lists/list-id.ts';

/** `loading`: it is there, and is being made ready. */
export type ListState = 'missing' | 'too-old' | 'loading';

export interface UnavailableList {
  readonly listId: ListId;
  readonly state: ListState;
}

/** Some list cannot be screened against, so that no answer would be whole. */
export class ListsUnavailableError extends Error {
  override readonly name = 'ListsUnavailableError';
  readonly lists: readonly UnavailableList[];

  constructor(lists: readonly UnavailableList[]) {
    super(`not available: ${lists.map(({ listId, state }) => `${listId} (${state})`).join(', ')}`);
    this.lists = lists;
  }
}
