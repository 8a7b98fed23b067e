import { isAbsolute } from 'node:path';
import type { NodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { BackupError } from '../backup/backup-error.ts';
import { copyStore } from '../backup/copy-store.ts';
import type { Recovery, RecoveryWait } from '../backup/recovery.ts';
import { readRestorations } from '../backup/restoration-table.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import { Lanes } from '../lanes.ts';
import type { Store } from '../store/store.ts';
import { CopyStoreShape } from './backup-forms.ts';
import { callerGone } from './operator-route.ts';

export interface BackupRooms {
  readonly self: NodeId;
  readonly store: Store;
  readonly recovery: Pick<Recovery, 'pending' | 'waits'> | null;
  readonly now: () => number;
}

const MAX_BYTES = 16 << 10;
const LANE = 'copy';

const validateCopy = validator(CopyStoreShape);

/** Copies of the store, as the operator of a running node takes them. One at a time: each reads all of it. */
export function backupRoutes(rooms: BackupRooms): readonly OperatorRoute[] {
  const lanes = new Lanes<typeof LANE>();
  const { self, store, now } = rooms;
  return [
    restorationRoute(rooms),
    {
      method: 'POST',
      path: '/store-copies',
      access: 'free',
      answer: async ({ context }) => {
        const { directory } = validateCopy((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
        if (!isAbsolute(directory)) throw refused('is not an absolute path');
        const signal = callerGone(context);
        const copy = await refusable(() => lanes.exclusive(LANE, () => copyStore(store, directory, self, now, signal)));
        return { body: { success: true, node: self, copy } };
      },
    },
  ];
}

/** What became of the copy that this node was restored from. */
export function restorationRoute({ self, store, recovery }: BackupRooms): OperatorRoute {
  return {
    method: 'GET',
    path: '/restorations',
    access: 'free',
    answer: async () => ({
      body: {
        success: true,
        node: self,
        recovering: recovery?.pending === true,
        waits: (recovery?.waits ?? []).map(waitAnswer),
        restorations: await readRestorations(store, self),
      },
    }),
  };
}

function waitAnswer(wait: RecoveryWait): JsonObject {
  return wait.for === 'peers' ? { ...wait, answered: [...wait.answered] } : { ...wait };
}

async function refusable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError) throw refused(error.message);
    throw error;
  }
}

function refused(detail: string): Problem {
  return new Problem('invalid-field', `directory: ${detail}`, {
    errors: [fieldError(['directory'], 'pattern', detail)],
  });
}
