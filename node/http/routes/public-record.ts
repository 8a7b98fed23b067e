import type { FreeRoute } from '../route.ts';
import { type ChainRouteServices, chainRoute } from './chains.ts';
import { revocationsRoute } from './revocations.ts';
import { type EquivocationServices, equivocationRoutes } from './equivocations.ts';
import { type SignedPageServices, rostersRoute, signingKeysRoute } from './signed-pages.ts';

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
