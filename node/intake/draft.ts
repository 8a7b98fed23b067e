import type { Claims, Links } from '../../protocol/chain/claims.ts';
import { claimsOf, type Facts, type LinkFacts, linksOf } from '../../protocol/chain/facts.ts';
import { type AttestationRecord, requireContent } from '../../protocol/chain/record.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import {
  commitDecision,
  commitText,
  type DecisionHashes,
  type DecisionTexts,
  SALT_BYTES,
} from '../../protocol/payload/commitment.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { randomBytesPooled } from '../keys/randomness.ts';
import type { PayloadCipher, SealedPayload } from '../records/payload/payload-cipher.ts';
import { newRecordId } from '../records/record-id.ts';
import type { Operation } from '../store/operation.ts';
import type { IdempotencyMark } from './idempotency.ts';

/** What a caller wants witnessed, already validated: intake adds identity, order, time, commitments and signature. */
export interface Draft {
  readonly kind: AttestationRecord['kind'];
  readonly account: string;
  readonly sourceId: string;
  /** RFC 8785 text of all of the request. */
  readonly payload: string;
  /** Texts of the decision inside it, whose parts are committed to one by one; absent where it is about no decision. */
  readonly decision?: DecisionTexts;
  readonly claims: Facts;
  readonly links: LinkFacts;
  /** Where something signed before already commits to the payload with it. Otherwise a fresh one is made. */
  readonly salt?: Uint8Array;
  /** Set where the account has its payloads compressed before they are encrypted. */
  readonly compressPayload?: boolean;
  /** Rows that hold exactly when the record does, and that do not follow from its text. */
  readonly besides?: (id: RecordId) => readonly Operation[];
  /** Set where a second identical request must be refused; unique for the account. */
  readonly duplicateKey?: string;
  /** Set where the caller may send the request again and wants the first answer. */
  readonly idempotency?: IdempotencyMark;
}

/** A draft whose record is made only once it is paid for: nothing of it may depend on when that is. */
export type PaidDraft = Omit<Draft, 'besides' | 'duplicateKey' | 'idempotency'>;

/** What is still looked at of a draft once it is prepared. */
type DraftPlace = Pick<Draft, 'kind' | 'account' | 'sourceId' | 'besides' | 'duplicateKey' | 'idempotency'>;

/** A draft with everything that does not depend on its place in the order of records. */
export interface PreparedDraft {
  readonly draft: DraftPlace;
  readonly id: RecordId;
  readonly payloadHash: Sha256Hash;
  readonly claims: Claims;
  readonly links: Links;
  readonly sealed: SealedPayload;
  /** Rows that hold exactly when the record does, and tell of the group that it came into. */
  readonly inGroup?: (group: Group) => readonly Operation[];
}

/** The draft of a record whose payload is kept as the account has it. */
export function keptFor<Kept extends PaidDraft>(
  { compressPayloads }: { readonly compressPayloads?: boolean },
  draft: Kept,
): Kept {
  return compressPayloads === true ? { ...draft, compressPayload: true } : draft;
}

/** Names, salts, commits and encrypts. Throws what `preparedOf` throws. */
export function prepareDraft(
  draft: Draft,
  node: NodeId,
  cipher: PayloadCipher,
  epochMilliseconds: number,
): PreparedDraft {
  const id = newRecordId(node, epochMilliseconds);
  return preparedOf(draft, id, sealDraft(textsOf(draft, id), cipher));
}

/** Of a draft that is named: what is committed to and encrypted. */
export interface DraftTexts extends Pick<Draft, 'decision' | 'payload' | 'salt' | 'compressPayload'> {
  readonly id: RecordId;
}

/** All that `sealDraft` looks at, here or in another thread. */
export function textsOf({ salt, payload, decision, compressPayload }: Draft, id: RecordId): DraftTexts {
  return {
    id,
    payload,
    ...(salt && { salt }),
    ...(decision && { decision }),
    ...(compressPayload && { compressPayload }),
  };
}

/** What comes of a draft's texts, whichever thread does it. */
export interface SealedDraft {
  readonly payloadHash: Sha256Hash;
  readonly hashes: DecisionHashes;
  readonly sealed: SealedPayload;
}

export function sealDraft(texts: DraftTexts, cipher: PayloadCipher): SealedDraft {
  const { id, salt = randomBytesPooled(SALT_BYTES), payload, decision, compressPayload = false } = texts;
  return {
    hashes: decision === undefined ? {} : commitDecision(nativeSuite, salt, decision),
    payloadHash: commitText(nativeSuite, 'meridian/payload/1', salt, payload),
    sealed: compressPayload ? cipher.sealPacked(id, salt, payload) : cipher.seal(id, salt, payload),
  };
}

/**
 * Throws `StatementError` where no member could read the record: found out before it is signed, it harms no other and
 * was confirmed to nobody.
 */
export function preparedOf(draft: Draft, id: RecordId, { payloadHash, hashes, sealed }: SealedDraft): PreparedDraft {
  const claims = claimsOf({ ...draft.claims, ...hashes });
  const links = linksOf(draft.links);
  requireContent({ account: draft.account, sourceId: draft.sourceId, payloadHash, claims, links });
  return { draft: placeOf(draft), id, payloadHash, claims, links, sealed };
}

/** Nothing else of the draft: its texts are let go of once they are sealed. */
function placeOf({ kind, account, sourceId, besides, duplicateKey, idempotency }: Draft): DraftPlace {
  return {
    kind,
    account,
    sourceId,
    ...(besides && { besides }),
    ...(duplicateKey === undefined ? {} : { duplicateKey }),
    ...(idempotency && { idempotency }),
  };
}
