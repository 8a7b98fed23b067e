import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { ChainAssembler } from './chain-assembler.ts';
import type { PageGroup } from './page-check.ts';
import { decodeItem } from './page-forms.ts';

/** Where a page of a chain begins. */
export interface PageStart {
  readonly batch: number;
  readonly seq: number;
}

/** A page that is here to its end, and what other threads say of it. */
export interface ArrivedPage {
  readonly frames: readonly ArrivedFrame[];
  /** Where the page behind it begins; null where it does not tell. */
  readonly next: PageStart | null;
  /** Those that it begins with, of which the records were checked. Never rejects. */
  readonly groups: Promise<readonly PageGroup[]>;
}

export interface ArrivedFrame {
  readonly frame: Uint8Array;
  /** The statement of a group. */
  readonly signed: SignedStatement | undefined;
  /** Resolves once its signature was looked at. Never rejects. */
  readonly isLookedAt: Promise<void> | undefined;
}

/** Who puts a page's chain together, and what is made whole by it. */
export interface PageTaker {
  readonly assembler: Pick<ChainAssembler, 'take' | 'takeChecked'>;
  readonly batches: StoredBatch[];
}

/** Takes the next frame of a page. Throws what the assembler does. */
export async function takeFrame({ assembler, batches }: PageTaker, frame: Uint8Array): Promise<void> {
  const batch = await assembler.take(decodeItem(frame));
  if (batch !== undefined) batches.push(batch);
}

/** Takes a page: the groups whose records were checked as such, then frame by frame. Throws what the assembler does. */
export async function takeArrived(taker: PageTaker, { frames, groups }: ArrivedPage): Promise<void> {
  const { assembler, batches } = taker;
  const checked = (await groups).values();
  let taken = 0;
  for (const { frame, signed, isLookedAt } of frames) {
    if (taken-- > 0) continue;
    await isLookedAt;
    const group = signed && checked.next().value;
    if (signed === undefined || group === undefined) {
      await takeFrame(taker, frame);
    } else {
      const batch = await assembler.takeChecked(signed, group);
      if (batch !== undefined) batches.push(batch);
      taken = group.frames - 1;
    }
  }
}
