import type { FreeRoute } from '../route.ts';
import { type ChainRouteRooms, chainRoute } from './chains.ts';
import { revocationsRoute } from './revocations.ts';
import { type EquivocationRooms, equivocationRoutes } from './equivocations.ts';
import { type SignedPageRooms, rostersRoute, signingKeysRoute } from './signed-pages.ts';

/**
 * What a node holds of the federation, as it was signed: enough for anyone to check every chain, without an account and
 * without a word of this node's own.
 */
export function publicRecordRoutes(rooms: ChainRouteRooms & EquivocationRooms & SignedPageRooms): readonly FreeRoute[] {
  return [
    chainRoute(rooms),
    signingKeysRoute(rooms),
    revocationsRoute(rooms),
    rostersRoute(rooms),
    ...equivocationRoutes(rooms),
  ];
}
