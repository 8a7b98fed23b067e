import { currentKey } from '../../../protocol/agents/agent.ts';
import { agentAddress } from '../../../protocol/agents/did.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { isWalletAddress } from '../../../protocol/payments/payment.ts';
import { SERVICES } from '../../../protocol/payments/prices.ts';
import type { Agents } from '../../governance/agents/agents.ts';
import type { Pages } from '../../pages/pages.ts';
import type { Answer, PageRoute } from '../route.ts';
import { type FederationPageSources, frontPageRoute, logPageRoute } from './federation-pages.ts';
import { PAGE_HEADERS, pageAnswer } from './page-answer.ts';
import { type RecordPageSources, recordLookupRoute, recordPageRoute } from './record-page.ts';
import { onceForAddress } from '../written-document.ts';
import { referenceOf } from './reference.ts';

export interface PageSources extends FederationPageSources, RecordPageSources {
  readonly agents: Pick<Agents, 'find'>;
  /** The OpenAPI document, of the public address that it names. */
  readonly document: (baseUrl: string) => Promise<JsonObject>;
}

/** A file's name has the hash of its contents. In seconds: a year. */
const FILE_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** What people read: no part of the API and of its document. */
export function pageRoutes(sources: PageSources): readonly PageRoute[] {
  return [
    frontPageRoute(sources),
    recordLookupRoute(),
    recordPageRoute(sources),
    checkPageRoute(sources),
    logPageRoute(sources),
    referencePageRoute(sources),
    agentPageRoute(sources),
    walletPageRoute(sources),
    pageFileRoute(sources.pages),
  ];
}

/** `GET /check`: where a visitor's own browser checks files. */
function checkPageRoute({ pages, keys }: PageSources): PageRoute {
  return {
    method: 'GET',
    path: '/check',
    access: 'free',
    isPage: true,
    answer: () => pageAnswer(pages, { name: 'check', fingerprint: keys.rosters.genesis }, './'),
  };
}

/** `GET /docs`: the reference of the API, drawn once for each public address. */
function referencePageRoute({ pages, baseUrl, document }: PageSources): PageRoute {
  const drawn = onceForAddress(baseUrl, async (address) => {
    return pageAnswer(pages, referenceOf(await document(address), address), './');
  });
  return {
    method: 'GET',
    path: '/docs',
    access: 'free',
    isPage: true,
    answer: () => drawn(),
  };
}

/** `GET /agents/:agentId`: who an agent is. What is sold about it is not shown. */
function agentPageRoute({ pages, agents, baseUrl, self }: PageSources): PageRoute {
  return {
    method: 'GET',
    path: '/agents/:agentId',
    access: 'free',
    isPage: true,
    async answer({ params: { agentId = '' } }) {
      const agent = await agents.find(agentId);
      if (agent === undefined) return missing(pages, 'There is no agent of this id on this node.');
      const inForce = currentKey(agent)?.keyId;
      const page = {
        name: 'agent',
        agentId: agent.agentId,
        did: agentAddress(baseUrl(), agent.agentId).did,
        node: self,
        status: agent.deactivatedAt === null ? 'active' : 'deactivated',
        keys: agent.keys.map(({ keyId, validFrom }) => ({
          keyId,
          status: keyId === inForce ? 'in force' : 'replaced',
          since: validFrom,
        })),
        price: SERVICES['agent-record'].usd,
      } as const;
      return pageAnswer(pages, page, '../');
    },
  };
}

/** `GET /w/:address`: how to buy what is known of an address. */
function walletPageRoute({ pages }: PageSources): PageRoute {
  return {
    method: 'GET',
    path: '/w/:address',
    access: 'free',
    isPage: true,
    async answer({ params: { address: given = '' } }) {
      const address = given.toLowerCase();
      if (!isWalletAddress(address)) return missing(pages, 'This is no address of a wallet: 0x and 40 digits 0-9a-f.');
      const page = {
        name: 'wallet',
        address,
        price: SERVICES['wallet-record'].usd,
        counterpartyPrice: SERVICES['check-counterparty'].usd,
      } as const;
      return pageAnswer(pages, page, '../');
    },
  };
}

function missing(pages: Pages, what: string): Promise<Answer> {
  return pageAnswer(pages, { name: 'missing', what }, '../', { status: 404 });
}

/** `GET /pages/:file`: a style or a script. */
export function pageFileRoute(pages: Pages): PageRoute {
  return {
    method: 'GET',
    path: '/pages/:file',
    access: 'free',
    isPage: true,
    // A page comes with a few of them; each is kept for good by whoever has it.
    limited: false,
    async answer({ params: { file = '' } }) {
      const { files } = await pages.files();
      const found = files.get(file);
      if (found === undefined) return { status: 404, body: 'There is no such file.', headers: TEXT_HEADERS };
      return { body: found.bytes, headers: { ...FILE_HEADERS, 'Content-Type': found.type } };
    },
  };
}

const TEXT_HEADERS = { ...PAGE_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' };
