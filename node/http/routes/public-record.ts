import Type from 'typebox';
import {
  PAGE_REVOCATIONS,
  REVOCATIONS_EXAMPLE,
  type RevocationsAnswer,
  RevocationsAnswerShape,
  RevocationsQueryShape,
} from '../../../protocol/api/revocations.ts';
import { revocationTable } from '../../log/members/federation-keys.ts';
import type { Store } from '../../store/store.ts';
import { ASKED_AGAIN } from '../entity-tag.ts';
import { queryReader } from '../query.ts';
import { PageCursor, RowPlaceShape } from '../page-cursor.ts';
import type { FreeRoute } from '../route.ts';
import { chainRoute, type ChainRouteServices } from './chains.ts';
import { equivocationRoutes, type EquivocationServices } from './equivocations.ts';
import { rostersRoute, type SignedPageServices, signingKeysRoute } from './signed-pages.ts';

const CURSOR = new PageCursor(Type.Tuple([RowPlaceShape]), ['eu/x']);

/**
 * What a node holds of the federation, as it was signed: enough for anyone to check every chain, without an account and
 * without a word of this node's own.
 */
export function publicRecordRoutes(
  services: ChainRouteServices & EquivocationServices & SignedPageServices,
): readonly FreeRoute[] {
  return [
    chainRoute(services),
    signingKeysRoute(services),
    revocationsRoute(services),
    rostersRoute(services),
    ...equivocationRoutes(services),
  ];
}

/** `GET /v1/revocations`: what a verifier needs beside a bundle, which may be older than the theft of a key. */
function revocationsRoute({ store }: { readonly store: Store }): FreeRoute {
  const readQuery = queryReader(RevocationsQueryShape);
  return {
    method: 'GET',
    path: '/v1/revocations',
    access: 'free',
    documentation: {
      summary: "The revocations of members' signing keys",
      description:
        'As they were signed by the identity keys that the rosters name. A bundle holds those that were known when it ' +
        'was made: a verifier asks several nodes for later ones. What a `compromised` key signed counts where its batch ' +
        'reached consensus before `compromisedSince`, or earlier than `revocationReach` seconds, as the roster in force ' +
        'there has it, before the revocation did; what a `rotated` one signed stands.',
      query: {
        cursor: CURSOR.parameter,
      },
      answer: { shape: RevocationsAnswerShape, example: REVOCATIONS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }) {
      const { cursor } = readQuery(query);
      const [place] = CURSOR.read(cursor) ?? [];
      const after = place === undefined ? {} : { after: place };
      const found = await Array.fromAsync(revocationTable.under(store, [], { ...after, limit: PAGE_REVOCATIONS + 1 }));
      const rows = found.slice(0, PAGE_REVOCATIONS);
      const last = rows.at(-1)?.[0].join('/');
      const body: RevocationsAnswer = {
        success: true,
        revocations: rows.map(([, { statement, signature }]) => ({ statement, signature })),
        nextCursor: found.length > rows.length && last !== undefined ? CURSOR.write([last]) : null,
      };
      return { body, headers: ASKED_AGAIN };
    },
  };
}
