import {
  MANIFEST_EXAMPLE,
  ManifestShape,
  RESOURCE_LIST_EXAMPLE,
  ResourceListShape,
} from '../../../protocol/api/discovery.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { llmsText } from '../discovery/llms-text.ts';
import { type Catalogue, manifest, resourceList } from '../discovery/manifest.ts';
import { offerOf } from '../discovery/offer.ts';
import type { FreeRoute, Route } from '../route.ts';

export type DiscoveryOptions = Omit<Catalogue, 'offers'>;

const MANIFEST_MEANING = [
  'Every endpoint that is sold: terms (x402 version 2), price, examples and schemas. `lastUpdated` is when the node was',
  'started: its terms hold as long as its process.',
].join(' ');
const TEXT = 'text/plain; charset=utf-8';

/**
 * `GET /.well-known/x402.json`, `GET /.well-known/x402` and `GET /llms.txt`: what of these routes is sold, and how to
 * pay for it. Made once: prices and terms hold for the life of the process.
 */
export function discoveryRoutes(routes: readonly Route[], options: DiscoveryOptions): readonly FreeRoute[] {
  const offers = routes.filter((route) => route.access === 'paid').map(offerOf);
  const free = routes.filter((route) => route.access === 'free');
  const catalogue = { ...options, offers };
  return [
    manifestRoute(manifest(catalogue)),
    resourceListRoute(resourceList(catalogue)),
    llmsRoute(llmsText(catalogue, free)),
  ];
}

function manifestRoute(body: JsonObject): FreeRoute {
  return documentRoute('/.well-known/x402.json', body, {
    summary: 'What is paid for by the call, and on which terms',
    description: MANIFEST_MEANING,
    answer: { shape: ManifestShape, example: MANIFEST_EXAMPLE },
    problems: [],
  });
}

function resourceListRoute(body: JsonObject): FreeRoute {
  return documentRoute('/.well-known/x402', body, {
    summary: 'Addresses that are paid for by the call',
    answer: { shape: ResourceListShape, example: RESOURCE_LIST_EXAMPLE },
    problems: [],
  });
}

function documentRoute(path: string, body: JsonObject, documentation: FreeRoute['documentation']): FreeRoute {
  const text = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json' };
  return { method: 'GET', path, access: 'free', documentation, answer: async () => ({ body: text, headers }) };
}

function llmsRoute(text: string): FreeRoute {
  return {
    method: 'GET',
    path: '/llms.txt',
    access: 'free',
    documentation: {
      summary: 'What this service is and how to pay for a call, as text',
      answer: { contentType: TEXT, example: '# Meridian' },
      problems: [],
    },
    answer: async () => ({ body: text, headers: { 'Content-Type': TEXT } }),
  };
}
