import { COUNTERPARTY_EXAMPLE, CounterpartyAnswerShape } from '../../../protocol/api/check-counterparty.ts';
import { AddressParameterShape } from '../../../protocol/api/paid-wallet-record.ts';
import { commit } from '../../../protocol/payload/commitment.ts';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import { SCREENING_DISCLAIMER } from '../../../protocol/screening/disclaimer.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { ChainReader } from '../../payments/facilitator/contract.ts';
import { readProfile } from '../../screening/counterparty/chain-profile.ts';
import { checkCounterparty } from '../../screening/counterparty/counterparty-check.ts';
import type { ListSearches } from '../../screening/list-searches.ts';
import { referenceDatabase } from '../../screening/screening.ts';
import type { PaidRoute } from '../route.ts';
import { attestSummary, type Summary, type VerifyUrl } from './attested-summary.ts';
import { addressParameter } from './wallet-record.ts';

export interface CounterpartyServices {
  readonly verifyUrl: VerifyUrl;
  readonly searches: Pick<ListSearches, 'ready' | 'requireLists'>;
  /** Null where the node has no chain to read: every profile has gaps then, and says so. */
  readonly chain: Pick<ChainReader, 'account' | 'firstTransaction'> | null;
  readonly now: () => number;
}

const SOURCE = 'meridian/counterparty';

/** `GET /v1/x402/check-counterparty/:address` (api-rules §4.1): lists and chain about an address, attested. */
export function counterpartyRoute(services: CounterpartyServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/check-counterparty/:address',
    access: 'paid',
    service: 'check-counterparty',
    documentation: {
      summary: 'Holds a wallet address against the sanctions lists, with its profile on the chain',
      description:
        'The address is compared with every digital currency address of the Ethereum kind on the lists in force, ' +
        'whatever currency they name it for. `match`: a list has it. `review`: none has, and a reason of severity ' +
        '`caution` calls for a closer look. `clear`: neither. It says nothing of addresses that deal with listed ones. ' +
        'What the chain does not tell is null, and `CHAIN_DATA_PARTIAL` says so. `firstSeen` is the time of the first ' +
        'transaction that the address sent itself, or of its creation where it has code; what it received before is ' +
        'not looked for. A list that is missing or was last compared with its source over seven days ago is 503, and ' +
        'nothing is charged. ' +
        'The payload of the record is the canonical JSON of all members but `success`, `salt`, `attestation` and ' +
        '`payment`; `queryHash` commits to the JSON text of `address` in lower case, as that of a screening does to ' +
        'the name.',
      params: {
        address: {
          description: 'Address of the wallet, in any case.',
          shape: AddressParameterShape,
          example: COUNTERPARTY_EXAMPLE.address,
        },
      },
      answer: { shape: CounterpartyAnswerShape, example: COUNTERPARTY_EXAMPLE.answer },
      problems: ['invalid-field', 'list-unavailable', 'queue-full'],
    },
    checkPath({ params }) {
      addressParameter(params);
    },
    requireReady: () => services.searches.requireLists(),
    prepare({ params }) {
      const address = addressParameter(params);
      const { verifyUrl } = services;
      return (paid) =>
        attestSummary(paid, { kind: 'counterparty_check', sourceId: SOURCE, verifyUrl }, (salt) =>
          check(services, address, salt),
        );
    },
  };
}

async function check(
  { searches, chain, now }: CounterpartyServices,
  address: WalletAddress,
  salt: Uint8Array,
): Promise<Summary> {
  const lists = [...(await searches.ready()).values()];
  const profile = await readProfile(chain, address);
  const checkedAt = timestampOf(now());
  const queryHash = commit(nativeSuite, 'meridian/input/1', salt, address);
  const result = checkCounterparty(address, lists, profile, checkedAt);
  return {
    members: { address, queryHash, checkedAt, ...result, disclaimer: SCREENING_DISCLAIMER },
    claims: {
      inputHash: queryHash,
      matched: result.verdict === 'match',
      verdict: result.verdict,
      referenceDatabase: referenceDatabase(lists),
      observedAt: checkedAt,
    },
  };
}
