import Type from 'typebox';
import {
  CursorQueryShape,
  FromQueryShape,
  PUBLIC_PAGE_CHARACTERS,
  PUBLIC_PAGE_ENTRIES,
  ROSTERS_EXAMPLE,
  type RostersAnswer,
  RostersAnswerShape,
  SIGNING_KEYS_EXAMPLE,
  type SigningKeysAnswer,
  SigningKeysAnswerShape,
} from '../../../protocol/api/public-record.ts';
import type { SignedStatement } from '../../../protocol/statement/statement.ts';
import type { RosterVotes } from '../../federation/roster-votes.ts';
import { certificateTable, type FederationKeys, revocationTable } from '../../log/members/federation-keys.ts';
import type { Store } from '../../store/store.ts';
import type { Table } from '../../store/table.ts';
import { ASKED_AGAIN } from '../entity-tag.ts';
import { queryReader } from '../query.ts';
import { PageCursor, RowPlaceShape } from '../page-cursor.ts';
import type { FreeRoute } from '../route.ts';

export interface SignedPageServices {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly rosterVotes: Pick<RosterVotes, 'next'>;
}

/** Key certificates of a page: each comes with the revocations of its key. */
const PAGE_KEYS = 32;
/** Rosters of one page, each of which may name 256 members. */
const PAGE_ROSTERS = 16;
const HEADERS = ASKED_AGAIN;
const CURSOR = new PageCursor(Type.Tuple([RowPlaceShape]), ['eu/x']);

/** `GET /v1/signing-keys`: which keys speak for which member, and which of them were withdrawn. */
export function signingKeysRoute({ store }: SignedPageServices): FreeRoute {
  const readQuery = queryReader(CursorQueryShape);
  return {
    method: 'GET',
    path: '/v1/signing-keys',
    access: 'free',
    documentation: {
      summary: "Certificates and revocations of the members' signing keys",
      description: 'As they were signed by the identity keys that the rosters name.',
      query: { cursor: CURSOR.parameter },
      answer: { shape: SigningKeysAnswerShape, example: SIGNING_KEYS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }) {
      const { rows, nextCursor } = await pageOf(store, certificateTable, readQuery(query).cursor, PAGE_KEYS);
      const revocations = new Map<string, SignedStatement>();
      const served: typeof rows = [];
      for (const row of rows) {
        const [[node = '', keyId = '']] = row;
        const ofKey = await Array.fromAsync(revocationTable.under(store, [node, keyId]));
        if (served.length > 0 && revocations.size + ofKey.length > PUBLIC_PAGE_ENTRIES) break;
        for (const [parts, revocation] of ofKey) revocations.set(parts.join('/'), revocation);
        served.push(row);
      }
      const body: SigningKeysAnswer = {
        success: true,
        certificates: served.map(([, certificate]) => certificate),
        revocations: [...revocations.values()],
        nextCursor: served.length < rows.length ? CURSOR.write([served.at(-1)?.[0].join('/') ?? '']) : nextCursor,
      };
      return { body, headers: HEADERS };
    },
  };
}

/** `GET /v1/rosters`: who belongs to the federation, version after version. */
export function rostersRoute({ keys, rosterVotes }: SignedPageServices): FreeRoute {
  const readQuery = queryReader(FromQueryShape);
  return {
    method: 'GET',
    path: '/v1/rosters',
    access: 'free',
    documentation: {
      summary: "The federation's rosters",
      description:
        'Those in force by the ledger, from genesis on, which all its members signed; a majority of the members before ' +
        'named each later one there. `named` is what this node has named to follow the last.',
      query: {
        from: {
          description: 'First version of the page. Default: 1.',
          shape: FromQueryShape.properties.from,
          example: '1',
        },
      },
      answer: { shape: RostersAnswerShape, example: ROSTERS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }) {
      const { from = 1 } = readQuery(query);
      const { texts, signedGenesis } = keys.currentRosters.inForce;
      const rosters = withinPage(texts.slice(from - 1, from - 1 + PAGE_ROSTERS));
      const next = from + rosters.length;
      const vote = await rosterVotes.next();
      const body: RostersAnswer = {
        success: true,
        signatures: from === 1 ? signedGenesis.signatures : [],
        rosters,
        named: vote === undefined ? [] : [vote.signed.statement],
        nextFrom: rosters.length > 0 && next <= texts.length ? next : null,
      };
      return { body, headers: HEADERS };
    },
  };
}

/** As many as a page holds, and at least one. */
function withinPage(texts: readonly string[]): string[] {
  let characters = 0;
  return texts.filter((text) => {
    const isWithin = characters < PUBLIC_PAGE_CHARACTERS;
    characters += text.length;
    return isWithin;
  });
}

/** Rows of a table after a cursor, which is the key of the last row of the page before. Throws `Problem` 400. */
async function pageOf<Value>(
  store: Store,
  table: Table<Value>,
  cursor: string | undefined,
  limit: number,
): Promise<{ readonly rows: [parts: string[], value: Value][]; readonly nextCursor: string | null }> {
  const [place] = CURSOR.read(cursor) ?? [];
  const after = place === undefined ? {} : { after: place };
  const found = await Array.fromAsync(table.under(store, [], { ...after, limit: limit + 1 }));
  const rows = found.slice(0, limit);
  const last = rows.at(-1)?.[0].join('/');
  return { rows, nextCursor: found.length > limit && last !== undefined ? CURSOR.write([last]) : null };
}
