import type { PackVerdict, PackWord } from '../../../protocol/pack/pack-verdict.ts';
import { WORDS, type Word } from '../../../protocol/verdict/word.ts';
import { Code, Foreign, Moment } from '../server/foreign.tsx';
import { STATES, type State, stateOf } from '../state.ts';

/** Problems that the page shows; the saved result has more. */
const SHOWN_PROBLEMS = 20;

const OF_PACKS: Readonly<Record<Exclude<PackWord, Word>, string>> = {
  'not-whole': 'a file in it was changed, or is missing, or something stands there that was not asked for',
  'not-signed-by-node': 'its manifest is not signed by the node that it names',
  'not-signed-by-home': 'it holds no record, and its node is not the home of the account, or no member any more',
  'sequence-broken': 'a record is missing from the sequence of its source',
};

/** The state and the sentence of a verdict on a pack. */
export function packVerdictOf(
  { word, records }: PackVerdict,
  isPinned: boolean,
): { readonly state: State; readonly sentence: string } {
  if (!isWord(word)) return { state: 'does-not-hold', sentence: `Does not hold: ${OF_PACKS[word]}.` };
  const state = stateOf(word, isPinned);
  return { state, sentence: `${STATES[state].title}: a pack of ${records} records.` };
}

/** What was found of a pack, and what it does not show. */
export function PackFound({ verdict, isPinned }: { readonly verdict: PackVerdict; readonly isPinned: boolean }) {
  const { manifest, records, disclosed, problems, problemCount, sources } = verdict;
  const { openBegins, openEnds, emptySources, emptyCount, elsewhere } = verdict;
  const { state, sentence } = packVerdictOf(verdict, isPinned);
  return (
    <>
      {manifest === null ? null : (
        <dl>
          <dt>Account</dt>
          <dd>
            <Foreign text={manifest.question.account} />
          </dd>
          <dt>Period</dt>
          <dd>
            <Moment at={manifest.question.from} /> to <Moment at={manifest.question.to} />, as of{' '}
            <Moment at={manifest.question.asOf} />
          </dd>
          <dt>Made by</dt>
          <dd>
            node <Foreign text={manifest.node} />, <Foreign text={manifest.generator} />
          </dd>
          <dt>Manifest</dt>
          <dd>{verdict.manifestHash === null ? 'unreadable' : <Code text={verdict.manifestHash} />}</dd>
          <dt>Federation</dt>
          <dd>{verdict.federation === null ? 'unreadable' : <Code text={verdict.federation} />}</dd>
        </dl>
      )}
      <ul class="checks">
        <li>
          {records} records of {sources} sequences of sources, {disclosed} of them with their contents
        </li>
        {WORDS.flatMap((word) => {
          const count = verdict.words[word];
          return count === undefined
            ? []
            : [
                <li key={word}>
                  {count} × <code>{word}</code>
                </li>,
              ];
        })}
      </ul>
      {problemCount === 0 ? null : (
        <>
          <p>{problemCount} problems:</p>
          <ul>
            {problems.slice(0, SHOWN_PROBLEMS).map(({ code, path, id, detail }, i) => (
              <li key={i}>
                <code>{code}</code> {path === null ? null : <Foreign text={path} />}{' '}
                {id === null ? null : <Code text={id} />} <Foreign text={detail} />
              </li>
            ))}
          </ul>
        </>
      )}
      <details>
        <summary>What this does not prove</summary>
        <ul>
          <li>
            that what was recorded is true, that everything that happened was recorded, or that a law is complied with
          </li>
          {openBegins === 0 ? null : (
            <li>
              that no record of the period came before the first one of {openBegins} sequences, before which the pack
              has no neighbour
            </li>
          )}
          <li>that no record followed the last one of {openEnds} sequences, after which the pack has no neighbour</li>
          {emptyCount === 0 ? null : (
            <li>
              that there was no record of {emptyCount} sources that were asked for at their nodes and are empty here:{' '}
              <Foreign text={emptySources.map(({ sourceId, node }) => `${sourceId} at ${node}`).join(', ')} />
              {emptyCount === emptySources.length ? null : `, and ${emptyCount - emptySources.length} more`}
            </li>
          )}
          {elsewhere === 0 ? null : (
            <li>that other nodes than the home, of which {elsewhere} records are, speak for the account</li>
          )}
        </ul>
      </details>
      <p class={state}>
        <span aria-hidden="true">{STATES[state].mark}</span> {sentence}
      </p>
    </>
  );
}

function isWord(word: PackWord): word is Word {
  const words: readonly string[] = WORDS;
  return words.includes(word);
}
