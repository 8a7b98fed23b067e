import Type from 'typebox';
import {
  ALL_FACTS_EXAMPLE,
  AllFactsShape,
  FACT_EXAMPLE,
  FACTS_MENU_EXAMPLE,
  FactShape,
  type FactsMenu,
  FactsMenuShape,
} from '../../../protocol/api/facts.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import { SERVICES } from '../../../protocol/payments/prices.ts';
import { type Fact, FACTS } from '../../../protocol/statement/vocabulary.ts';
import type { Draft } from '../../intake/draft.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import type { PreparedRecord } from '../../payments/paid-recording.ts';
import { type FactCache, FactError, type FactSnapshot } from '../../services/facts/fact-cache.ts';
import { Problem } from '../problem.ts';
import type { FreeRoute, PaidCall, PaidRoute, Route } from '../route.ts';
import { ATTESTATION_BLANKS, attestationTail, type VerifyUrl } from './attested-summary.ts';

/** Source that facts about the ledger are recorded under. */
const SOURCE_ID = 'meridian/hedera-facts';

/**
 * A snapshot, and the salt with which its record commits to it: anyone who is given both can show what was attested.
 */
interface AttestableFact {
  readonly told: JsonObject;
  readonly draft: Draft;
}

function attestableFact(account: string, snapshot: FactSnapshot): AttestableFact {
  const salt = randomBytesPooled(SALT_BYTES);
  const { fact, observedAt, rawHash } = snapshot;
  return {
    told: { ...snapshot, salt: encodeBase64url(salt) },
    draft: {
      kind: 'fact',
      account,
      sourceId: SOURCE_ID,
      payload: canonicalize(snapshot),
      claims: { channel: 'tiered', fact, observedAt, rawHash },
      links: {},
      salt,
    },
  };
}

export interface FactServices {
  readonly facts: Pick<FactCache, 'snapshot' | 'catalogue' | 'network'>;
  readonly verifyUrl: VerifyUrl;
}

/** When a mirror that does not answer may be there again. In seconds. */
const RETRY_SECONDS = 10;

const DESCRIPTION =
  'Read from a mirror node of the ledger that the federation anchors on, and attested as a record of kind `fact`. ' +
  '`rawHash` is the SHA-256 of all that the mirror sent for it, one answer after another. The payload of the record ' +
  'is the snapshot without `salt`: with it anyone can check that `payloadHash` commits to it. A mirror is believed: ' +
  'what it says is witnessed, not proved.';

/**
 * The facts about the ledger (api-rules §4.1): a free menu, all of them at once, and one by one, in an order for
 * matching.
 */
export function factRoutes(services: FactServices): readonly Route[] {
  return [menuRoute(services), allFactsRoute(services), factRoute(services)];
}

function menuRoute({ facts }: FactServices): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/x402/hedera-facts',
    access: 'free',
    documentation: {
      summary: 'Which facts about the ledger can be had, and for how much',
      description:
        'Free. A fact that was read less than `maxAgeSeconds` ago is given again, under its own `observedAt`.',
      answer: { shape: FactsMenuShape, example: FACTS_MENU_EXAMPLE },
      problems: [],
    },
    answer: async () => ({ body: menuOf(facts) }),
  };
}

function factRoute(services: FactServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/hedera-facts/:fact',
    access: 'paid',
    service: 'hedera-fact',
    documentation: {
      summary: 'One fact about the ledger, attested',
      description: DESCRIPTION,
      params: {
        fact: { description: 'Name of the fact.', shape: Type.Enum([...FACTS]), example: 'exchange-rate' },
      },
      answer: { shape: FactShape, example: FACT_EXAMPLE },
      problems: ['fact-not-found', 'dependency-unavailable'],
    },
    checkPath({ params }) {
      requireFact(params.fact);
    },
    prepare({ params }) {
      const fact = requireFact(params.fact);
      return async (paid) => {
        const [attested] = await attestFacts(services, paid, [fact]);
        if (attested === undefined) throw new RangeError('a fact without a record');
        const { told, record } = attested;
        return {
          body: { success: true, ...told, attestation: attestationTail(record, services.verifyUrl) },
          blanks: ATTESTATION_BLANKS,
        };
      };
    },
  };
}

function allFactsRoute(services: FactServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/hedera-facts/all',
    access: 'paid',
    service: 'hedera-facts-all',
    documentation: {
      summary: 'All six facts about the ledger, each attested by itself',
      description: `${DESCRIPTION} Where one cannot be had none is sold. \`attestation\` is that of the first fact.`,
      answer: { shape: AllFactsShape, example: ALL_FACTS_EXAMPLE },
      problems: ['dependency-unavailable'],
    },
    prepare: () => async (paid) => {
      const attested = await attestFacts(services, paid, FACTS);
      const [first] = attested;
      if (first === undefined) throw new RangeError('facts without a record');
      const facts: Record<string, JsonObject> = {};
      const attestationIds: Record<string, string> = {};
      for (const { fact, told, record } of attested) {
        facts[fact] = { ...told, attestationId: record.id };
        attestationIds[fact] = record.id;
      }
      const attestation = attestationTail(first.record, services.verifyUrl);
      return { body: { success: true, facts, attestationIds, attestation }, blanks: ATTESTATION_BLANKS };
    },
  };
}

/** What is told of a fact, and the record that attests it. */
interface AttestedFact {
  readonly fact: Fact;
  readonly told: JsonObject;
  readonly record: PreparedRecord;
}

/** One record a fact, in their order. */
async function attestFacts(
  { facts }: FactServices,
  { account, recording }: PaidCall,
  names: readonly Fact[],
): Promise<readonly AttestedFact[]> {
  const snapshots = await Promise.all(names.map((name) => readFact(facts, name)));
  const attestable = snapshots.map((snapshot) => attestableFact(account, snapshot));
  const records = await recording.prepare(attestable.map(({ draft }) => draft));
  return records.flatMap((record, i) => {
    const [fact, told] = [names[i], attestable[i]?.told];
    return fact === undefined || told === undefined ? [] : [{ fact, told, record }];
  });
}

async function readFact(facts: FactServices['facts'], name: Fact): Promise<FactSnapshot> {
  try {
    return await facts.snapshot(name);
  } catch (error) {
    if (!(error instanceof FactError)) throw error;
    const headers = { 'Retry-After': String(RETRY_SECONDS) };
    throw new Problem('dependency-unavailable', `No mirror node of the ledger gives ${name} now.`, {
      headers,
      cause: error,
    });
  }
}

function requireFact(name = ''): Fact {
  const fact = FACTS.find((known) => known === name);
  if (fact === undefined) throw new Problem('fact-not-found', `There is no fact ${JSON.stringify(name.slice(0, 40))}.`);
  return fact;
}

function menuOf({ catalogue, network }: FactServices['facts']): FactsMenu {
  const { usd: priceUsd, path } = SERVICES['hedera-fact'];
  const bundle = SERVICES['hedera-facts-all'];
  return {
    network,
    facts: FACTS.map((fact) => {
      const { description, window, path: endpoint, maxAgeSeconds } = catalogue[fact];
      const source = { type: 'mirror-node', endpoint } as const;
      return { fact, path: path.replace(':fact', fact), priceUsd, description, window, source, maxAgeSeconds };
    }),
    bundle: { path: bundle.path, priceUsd: bundle.usd },
  };
}
