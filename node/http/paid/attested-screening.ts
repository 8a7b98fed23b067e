import {
  MAX_NAME,
  MIN_NAME,
  SCREENING_EXAMPLE,
  ScreeningAnswerShape,
  type ScreeningRequest,
  ScreeningRequestShape,
} from '../../../protocol/api/attested-screening.ts';
import { commit } from '../../../protocol/payload/commitment.ts';
import { SCREENING_DISCLAIMER } from '../../../protocol/screening/disclaimer.ts';
import { nameKey } from '../../../protocol/screening/name-key.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { ListSearches } from '../../screening/list-searches.ts';
import { referenceDatabase, type Screening, screenName } from '../../screening/screening.ts';
import { fieldProblem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { attestSummary, type Summary, type VerifyUrl } from './attested-summary.ts';

export interface ScreeningServices {
  readonly verifyUrl: VerifyUrl;
  readonly searches: Pick<ListSearches, 'ready' | 'requireLists'>;
  readonly now: () => number;
}

const SOURCE = 'meridian/screening';

const validate = validator(ScreeningRequestShape);

/** `POST /v1/x402/attested-screening` (api-rules §4.1): a name held against the sanctions lists, attested. */
export function screeningRoute(services: ScreeningServices): PaidRoute {
  return {
    method: 'POST',
    path: '/v1/x402/attested-screening',
    access: 'paid',
    service: 'attested-screening',
    documentation: {
      summary: 'Holds a name against the sanctions lists',
      description:
        'A name matches an entry where it is one of its names or aliases (`exact`), or where its words stand together ' +
        'inside one (`substring`; names of fewer than four characters match exactly only). These make no difference: ' +
        'case; accents and vowel signs of Latin, Cyrillic, Greek, Arabic and Hebrew letters (`ß` is `ss`, `ø` is ' +
        '`o`); how much white space there is; characters that show nothing; signs at an end or beside white space. A' +
        ' sign inside a word of a listed name (an apostrophe, a quote, a dot, a hyphen, a slash) is a space as well as ' +
        'nothing: `S.A.` is found as `SA` and as `S A`, and `Al-Qaida` as `Alqaida` and as `Al Qaida`. In `name` an ' +
        'apostrophe or quotes are a space as well as nothing, and any other sign is a space: `S.A.` does not find a ' +
        'listed `SA`. All else makes a difference: a space is not the same as nothing (`SA` does not find `S A`), an ' +
        'apostrophe ends no word, words keep their order (but an individual whom OFAC names "SURNAME, Given" is also ' +
        '"Given SURNAME"), `&` is not `and`, nothing is transliterated, and spelling variants are not looked for. ' +
        'All lists are held against, or none: one that is missing or was last compared with its ' +
        'source over seven days ago is 503, and nothing is charged. ' +
        'The name is stored nowhere. `queryHash` is the SHA-256 of `meridian/input/1`, a zero byte, the bytes of ' +
        '`salt`, and the JSON text of `name` as it was sent, in UTF-8; it is the `inputHash` of the record. The payload ' +
        'of the record is the canonical JSON of all members but `success`, `salt`, `warnings`, `attestation` and ' +
        '`payment`, under the same salt. Keep `name` and `salt` to show later what was asked.',
      request: { shape: ScreeningRequestShape, example: SCREENING_EXAMPLE.request },
      answer: { shape: ScreeningAnswerShape, example: SCREENING_EXAMPLE.answer },
      problems: ['list-unavailable', 'queue-full'],
    },
    requireReady: () => services.searches.requireLists(),
    prepare(_call, body) {
      const request = validate(body);
      requireName(request);
      const { verifyUrl } = services;
      return (paid) =>
        attestSummary(paid, { kind: 'screening', sourceId: SOURCE, verifyUrl }, (salt) =>
          screen(services, request, salt),
        );
    },
  };
}

async function screen(
  { searches, now }: ScreeningServices,
  { name, queryId }: ScreeningRequest,
  salt: Uint8Array,
): Promise<Summary> {
  const lists = [...(await searches.ready()).values()];
  const queryHash = commit(nativeSuite, 'meridian/input/1', salt, name);
  const screening = screenName(name, lists);
  const { result } = screening;
  return {
    members: {
      queryId: queryId ?? null,
      queryHash,
      screenedAt: timestampOf(now()),
      ...screening,
      disclaimer: SCREENING_DISCLAIMER,
    },
    claims: {
      inputHash: queryHash,
      matched: result === 'match',
      verdict: result,
      referenceDatabase: referenceDatabase(lists),
    },
    warnings: warningsOf(screening),
  };
}

function warningsOf({ lists }: Screening): string[] {
  return lists.flatMap(({ listId, stale, sample }) => [
    ...(stale ? [`${listId}: last compared with its source more than 48 hours ago`] : []),
    ...(sample ? [`${listId}: a sample of made-up entries, and no real list`] : []),
  ]);
}

function requireName({ name }: ScreeningRequest): void {
  const length = [...name.trim()].length;
  if (length < MIN_NAME || length > MAX_NAME) {
    throw fieldProblem(
      'name',
      'length',
      `must have ${MIN_NAME} to ${MAX_NAME} characters without the white space around it`,
    );
  }
  if (nameKey(name) === '') throw fieldProblem('name', 'pattern', 'must have a letter or a digit');
}
