import Type from 'typebox';
import type { Context } from 'koa';
import type { CertifiedKey } from '../../protocol/chain/certified-keys.ts';
import { hashText, isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { revocationStatement } from '../../protocol/log/revocation.ts';
import { timestampOf } from '../../protocol/time.ts';
import { OrdinalShape } from '../../protocol/shapes.ts';
import type { RevocationsFile } from '../../protocol/verdict/bundle.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, fieldProblem, Problem } from '../http/problem.ts';
import { PageCursor } from '../http/page-cursor.ts';
import { queryOf } from '../http/query.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { OwnKeyError, type OwnKeyFault, type OwnKeys } from '../log/members/own-keys.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { decisionNaming } from '../verification/evidence.ts';
import { type FallenRecord, FallenRecords } from '../verification/fallen-records.ts';
import { type FederationProofSources, proveRevocations } from '../verification/federation-proof.ts';
import { operatorRoute } from './operator-listener.ts';
import { RevokeSigningKeyShape, RotateSigningKeyShape } from './signing-key-forms.ts';

export interface SigningKeyServices extends FederationProofSources {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: Pick<FederationKeys, 'currentRosters' | 'directory' | 'statements'>;
  readonly ownKeys: Pick<OwnKeys, 'keyId' | 'rotate' | 'revoke'>;
  readonly now: () => number;
}

export const SIGNING_KEYS_PATH = '/signing-keys';
export const REVOKE_PATH = '/signing-keys/revoke';
const MAX_BYTES = 64 << 10;
const FIELD_OF: Readonly<Record<OwnKeyFault, string>> = { 'unknown-key': 'keyId', 'in-future': 'compromisedSince' };

const validateRotate = validator(RotateSigningKeyShape);
const validateRevoke = validator(RevokeSigningKeyShape);

/** The node's signing keys as its operator reads, replaces and revokes them. */
export function signingKeyRoutes(services: SigningKeyServices): readonly OperatorRoute[] {
  const { self, keys, ownKeys, now, store, federationLog } = services;
  const decisionOf = (batch: StoredBatch) => decisionNaming(federationLog.decisionOf.bind(federationLog), batch);
  const fallen = new FallenRecords({ self, store, keys, federationLog, decisionOf });
  return [
    operatorRoute('GET', SIGNING_KEYS_PATH, async () => keysAnswer(services)),
    operatorRoute('GET', '/revocations', async () => {
      const file = await proveRevocations(services);
      return { file, notShown: countNotShown(services, file) };
    }),
    operatorRoute('GET', '/fallen-records', (context) => fallenAnswer(self, fallen, queryOf(context.search))),
    operatorRoute('POST', '/signing-keys/rotate', async (context) => {
      validateRotate(await bodyOf(context));
      const before = ownKeys.keyId;
      return { node: self, before, keyId: (await ownKeys.rotate()).keyId };
    }),
    operatorRoute('POST', REVOKE_PATH, async (context) => {
      const request = validateRevoke(await bodyOf(context));
      const { keyId = ownKeys.keyId, compromisedSince = timestampOf(now()), note } = request;
      const { revocation, replacedBy } = await refusable(() => ownKeys.revoke(keyId, compromisedSince, note));
      const { compromisedSince: since } = revocation;
      return { node: self, keyId, compromisedSince: since, fallsFrom: fallen.fallsFrom(keyId), replacedBy };
    }),
  ];
}

/** Keys that are known to be revoked, of which a revocation is not in the file, or none is in force yet. */
function countNotShown({ keys, federationLog }: SigningKeyServices, { revocations }: RevocationsFile): number {
  const shown = new Set(revocations.map(({ statement }) => hashText(nativeSuite, statement)));
  const { revoked } = federationLog.state;
  const known = keys.statements().revocations.map(({ statement }) => revocationStatement.parse(statement));
  const decided = new Map([
    ...known.map(({ node, keyId }) => [`${node} ${keyId}`, revoked[node]?.[keyId] ?? []] as const),
    ...Object.entries(revoked).flatMap(([node, ofNode]) => {
      return Object.entries(ofNode).map(([keyId, ofKey]) => [`${node} ${keyId}`, ofKey] as const);
    }),
  ]);
  const isShown = (ofKey: readonly { readonly statement: Sha256Hash }[]): boolean => {
    return ofKey.length > 0 && ofKey.every(({ statement }) => shown.has(statement));
  };
  return [...decided.values()].filter((ofKey) => !isShown(ofKey)).length;
}

/** By the number of a record. */
const FALLEN_CURSOR = new PageCursor(Type.Tuple([OrdinalShape]), [42]);

async function fallenAnswer(self: NodeId, fallen: FallenRecords, query: URLSearchParams): Promise<JsonObject> {
  const [cursor, key] = [query.get('cursor'), query.get('key')];
  const [from] = FALLEN_CURSOR.read(cursor ?? undefined) ?? [1];
  const { records, next } = await fallen.page(from, key === null ? undefined : keyIdOf(key));
  return {
    node: self,
    records: records.map(plain),
    nextCursor: next === null ? null : FALLEN_CURSOR.write([next]),
  };
}

function plain({ id, seq, batch, consensus, keyId, fallsFrom }: FallenRecord): JsonObject {
  return { id, seq, batch, consensus, keyId, fallsFrom };
}

/** Throws `Problem` 400. */
function keyIdOf(text: string): Sha256Hash {
  if (isSha256Hash(text)) return text;
  throw fieldProblem('key', 'pattern', 'is no key id');
}

function keysAnswer(services: SigningKeyServices): JsonObject {
  const { self, keys, ownKeys } = services;
  const own = keys.directory.of(self);
  return {
    node: self,
    inUse: ownKeys.keyId,
    keys: own.map((key) => keyAnswer(services, key)),
  };
}

function keyAnswer({ self, keys, federationLog }: SigningKeyServices, { certificate }: CertifiedKey): JsonObject {
  const { keyId, validFrom, seqFrom } = certificate;
  const revoked = keys.directory.revocation(self, keyId);
  if (revoked === undefined) return { keyId, validFrom, seqFrom, revoked: null };
  const { compromisedSince, reason, issuedAt } = revoked.revocation;
  const hash = hashText(nativeSuite, revoked.signed.statement);
  const decided = federationLog.state.revoked[self]?.[keyId]?.find(({ statement }) => statement === hash);
  const inForceSince = decided?.consensusTimestamp ?? null;
  return { keyId, validFrom, seqFrom, revoked: { compromisedSince, reason, issuedAt, inForceSince } };
}

async function refusable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OwnKeyError)) throw error;
    const field = FIELD_OF[error.fault];
    throw new Problem('invalid-field', error.message, { errors: [fieldError([field], error.fault, error.message)] });
  }
}

async function bodyOf(context: Context): Promise<JsonObject> {
  return (await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value;
}
