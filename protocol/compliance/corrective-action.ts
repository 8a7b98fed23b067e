import { ACTION_STATUSES, type ActionStatus } from '../statement/vocabulary.ts';

/** Where a corrective action can go from where it stands. Each move is a signed record of its own. */
const MOVES = {
  planned: ['in-progress', 'cancelled'],
  'in-progress': ['implemented', 'cancelled'],
  implemented: ['verified', 'ineffective', 'cancelled'],
  verified: ['closed', 'ineffective', 'cancelled'],
  closed: [],
  ineffective: ['in-progress', 'cancelled'],
  cancelled: [],
} as const satisfies Readonly<Record<ActionStatus, readonly ActionStatus[]>>;

/** An action that nobody heard of cannot have been closed, nor found ineffective. */
const FIRST: readonly ActionStatus[] = ACTION_STATUSES.filter(
  (status) => status !== 'closed' && status !== 'ineffective',
);

/** The statuses that may follow; null: of an action that there is no record of yet. */
export function allowedAfter(from: ActionStatus | null): readonly ActionStatus[] {
  return from === null ? FIRST : MOVES[from];
}
