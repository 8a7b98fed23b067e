import { readJsonBody } from '../http/body.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import type { ListServices } from '../screening/lists/list-services.ts';
import { packInThread } from '../screening/packing-thread.ts';
import { RepeatError, repeatScreening, type RepeatSources } from '../screening/repeat-screening.ts';
import type { Store } from '../store/store.ts';
import { type RepeatAnswer, type RepeatQuestion, RepeatScreeningShape } from './backup-forms.ts';
import { callerGone, operatorRoute } from './operator-listener.ts';

const MAX_BYTES = 16 << 10;
/** Longest that all lists together may take to be read. In milliseconds. */
const REPEAT_MS = 10 * 60_000;

const validate = validator(RepeatScreeningShape);

/** Old screenings, held once more against the lists that they saw. */
export function screeningRoutes({
  store,
  lists,
}: Pick<ListServices, 'lists'> & { readonly store: Store }): OperatorRoute[] {
  const sources: RepeatSources = { store, lists, pack: packInThread(lists) };
  return [
    operatorRoute('POST', '/screenings/repeat', async (context) => {
      const asked = validate((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
      const signal = AbortSignal.any([callerGone(context), AbortSignal.timeout(REPEAT_MS)]);
      return { ...(await answerTo(sources, asked, signal)) };
    }),
  ];
}

async function answerTo(
  sources: RepeatSources,
  asked: RepeatQuestion,
  signal: AbortSignal,
): Promise<Omit<RepeatAnswer, 'success'>> {
  try {
    const { recorded, repeated, lists } = await repeatScreening(sources, asked, signal);
    const outcome = recorded === repeated ? 'agrees' : 'differs';
    const shown = lists.map(({ listId, fileHash, fileDate, matchCount, matches }) => {
      const entries = matches.map(({ entryId, matchedName }) => `${entryId} ${matchedName}`);
      return { listId, fileHash, fileDate, matchCount, entries };
    });
    return { outcome, code: null, detail: null, recorded, repeated, lists: shown };
  } catch (error) {
    if (!(error instanceof RepeatError)) throw error;
    const { code, message: detail } = error;
    return { outcome: 'refused', code, detail, recorded: null, repeated: null, lists: [] };
  }
}
