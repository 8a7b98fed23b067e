import type { JsonObject } from '../../../protocol/json/value.ts';
import { requirementsOf, X402_VERSION } from '../../../protocol/payments/terms.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Offer } from './offer.ts';

/** What a node sells, and on which terms. */
export interface Catalogue {
  readonly offers: readonly Offer[];
  /** Address that is paid; null where this node takes no payments, so that nothing is sold. */
  readonly payTo: string | null;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
  /** Since when these are its terms. */
  readonly since: Timestamp;
}

/** The document of `/.well-known/x402.json`. */
export function manifest({ offers, payTo, baseUrl, since }: Catalogue): JsonObject {
  return {
    x402Version: X402_VERSION,
    lastUpdated: since,
    takesPayments: payTo !== null,
    openapi: `${baseUrl}/openapi.json`,
    items: payTo === null ? [] : offers.map((offer) => itemOf(offer, payTo, baseUrl, since)),
  };
}

/** The document of `/.well-known/x402`: addresses that can be called to be told the price. */
export function resourceList({ offers, payTo, baseUrl }: Catalogue): JsonObject {
  return { version: 1, resources: payTo === null ? [] : offers.map(({ examplePath }) => baseUrl + examplePath) };
}

function itemOf(offer: Offer, payTo: string, baseUrl: string, since: Timestamp): JsonObject {
  const { route, usd, description, examplePath, answer } = offer;
  return {
    resource: baseUrl + examplePath,
    ...(route.path.includes(':') ? { routeTemplate: route.path } : {}),
    type: 'http',
    x402Version: X402_VERSION,
    method: route.method,
    service: route.service,
    description,
    mimeType: 'application/json',
    priceUsd: usd,
    accepts: [requirementsOf(route.service, { payTo })],
    lastUpdated: since,
    input: inputOf(offer),
    output: { type: 'json', ...answer },
  };
}

function inputOf({ route, path, query, body }: Offer): JsonObject {
  const hasPath = route.path.includes(':');
  return {
    type: 'http',
    method: route.method,
    ...(body === null ? { queryParams: query.example } : { bodyType: 'json', body: body.example }),
    ...(hasPath ? { pathParams: path.example } : {}),
    schema: {
      ...(body === null ? { queryParams: query.schema } : { body: body.schema }),
      ...(hasPath ? { pathParams: path.schema } : {}),
    },
  };
}
