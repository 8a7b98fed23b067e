import {
  MANIFEST_EXAMPLE,
  ManifestShape,
  RESOURCE_LIST_EXAMPLE,
  ResourceListShape,
} from '../../../protocol/api/discovery.ts';
import { type Catalogue, llmsText, manifest, resourceList } from '../discovery/llms-text.ts';
import { offerOf } from '../discovery/offer.ts';
import { ASKED_AGAIN, type HeldBody } from '../entity-tag.ts';
import { writtenDocument } from '../written-document.ts';
import type { FreeRoute, Route } from '../route.ts';

export type DiscoveryOptions = Omit<Catalogue, 'offers' | 'baseUrl'> & {
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: () => string;
};

const MANIFEST_MEANING = [
  'Every endpoint that is sold: terms (x402 version 2), price, examples and schemas. `lastUpdated` is when the node was',
  'started: its terms hold as long as its process.',
].join(' ');
const TEXT = 'text/plain; charset=utf-8';

/**
 * `GET /.well-known/x402.json`, `GET /.well-known/x402` and `GET /llms.txt`: what of these routes is sold, and how to
 * pay for it. Prices and terms hold for the life of the process.
 */
export function discoveryRoutes(
  routes: readonly Route[],
  { baseUrl, ...options }: DiscoveryOptions,
): readonly FreeRoute[] {
  const offers = routes.filter((route) => route.access === 'paid').map(offerOf);
  const free = routes.filter((route) => route.access === 'free');
  const written = (write: (catalogue: Catalogue) => string) =>
    writtenDocument(baseUrl, (address) => write({ ...options, offers, baseUrl: address }));
  return [
    manifestRoute(written((catalogue) => JSON.stringify(manifest(catalogue)))),
    resourceListRoute(written((catalogue) => JSON.stringify(resourceList(catalogue)))),
    llmsRoute(written((catalogue) => llmsText(catalogue, free))),
  ];
}

function manifestRoute(document: () => Promise<HeldBody>): FreeRoute {
  return documentRoute('/.well-known/x402.json', document, {
    summary: 'What is paid for by the call, and on which terms',
    description: MANIFEST_MEANING,
    answer: { shape: ManifestShape, example: MANIFEST_EXAMPLE },
    problems: [],
  });
}

function resourceListRoute(document: () => Promise<HeldBody>): FreeRoute {
  return documentRoute('/.well-known/x402', document, {
    summary: 'Addresses that are paid for by the call',
    answer: { shape: ResourceListShape, example: RESOURCE_LIST_EXAMPLE },
    problems: [],
  });
}

function documentRoute(
  path: string,
  document: () => Promise<HeldBody>,
  documentation: FreeRoute['documentation'],
): FreeRoute {
  const headers = { ...ASKED_AGAIN, 'Content-Type': 'application/json' };
  return {
    method: 'GET',
    path,
    access: 'free',
    documentation,
    answer: async () => ({ ...(await document()), headers }),
  };
}

function llmsRoute(document: () => Promise<HeldBody>): FreeRoute {
  return {
    method: 'GET',
    path: '/llms.txt',
    access: 'free',
    documentation: {
      summary: 'What this service is and how to pay for a call, as text',
      answer: { contentType: TEXT, example: '# Meridian' },
      problems: [],
    },
    answer: async () => ({ ...(await document()), headers: { ...ASKED_AGAIN, 'Content-Type': TEXT } }),
  };
}
