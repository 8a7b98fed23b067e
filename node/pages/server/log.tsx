import type { LogPage, Root } from '../page.ts';
import { Code, Foreign, Moment } from './foreign.tsx';
import { Members } from './members.tsx';

/** The federation's log: how far it goes, who signed its head, and who broke the rules. */
export function LogView({ page, root }: { readonly page: LogPage; readonly root: Root }) {
  const { node, federation, fingerprint, ledger, topicId, size, rootHash, members, checkpoints, misdeeds } = page;
  return (
    <>
      <h1>
        The log of <Foreign text={federation} />
      </h1>
      <p class={page.isLate ? 'state bad' : 'state good'}>{ageOf(page)}</p>
      <dl>
        <dt>Decided batches and rosters</dt>
        <dd>{size}</dd>
        <dt>Root</dt>
        <dd>{rootHash === null ? 'none yet' : <Code text={rootHash} />}</dd>
        <dt>Ledger</dt>
        <dd>
          <Foreign text={ledger} />, topic <code>{topicId}</code>
        </dd>
        <dt>Fingerprint of the federation</dt>
        <dd>
          <Code text={fingerprint} />
        </dd>
      </dl>
      <section aria-labelledby="checkpoints">
        <h2 id="checkpoints">Checkpoints</h2>
        <p>
          Each member signs how far it has read the log, and its root. A record is confirmed once a quorum of other
          members has signed one that covers it. As node <Foreign text={node} /> holds them:
        </p>
        <ul>
          {checkpoints.map(({ node: signer, size: covered, current }) => (
            <li key={signer}>
              <Foreign text={signer} />: {covered} {current ? '● up to date' : '○ behind'}{' '}
              <a href={`${root}v1/log/checkpoints/${encodeURIComponent(signer)}`}>as signed</a>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="decisions">
        <h2 id="decisions">Newest decisions</h2>
        <ul>
          {page.decisions.map(({ index, what, at }) => (
            <li key={index}>
              {index}: <Foreign text={what} />, <Moment at={at} />
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="members">
        <h2 id="members">Members</h2>
        <Members members={members} />
      </section>
      <section aria-labelledby="misdeeds">
        <h2 id="misdeeds">Misbehaviour</h2>
        {misdeeds.length === 0 ? (
          <p>None is known here.</p>
        ) : (
          <ul>
            {misdeeds.map(({ node: accused, batch, stands }) => (
              <li key={`${accused} ${batch}`}>
                ✕ <Foreign text={accused} />, batch {batch}, {stands ? 'stands' : 'does not count any more'}:{' '}
                <a href={`${root}v1/equivocations/${encodeURIComponent(accused)}`}>the proof</a>, which{' '}
                <a href={`${root}check`}>your machine can check</a>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="walk">
        <h2 id="walk">How a record is found in it</h2>
        <ol>
          <li>The record’s text is hashed: that is its leaf.</li>
          <li>
            Leaf and neighbours are hashed together, step by step, up to the root of its group, which its node signed.
          </li>
          <li>Roots of groups are hashed up to the root of the batch, which its node signed too.</li>
          <li>The hash of the batch’s envelope is a message on the ledger’s topic: its place is its time.</li>
          <li>The decision on that message is a leaf of this log, and checkpoints sign the log’s root.</li>
        </ol>
        <p>The page of each record has its own path.</p>
      </section>
    </>
  );
}

function ageOf({ lastDecisionAt, lastDecisionAgeSeconds: age, isLate }: LogPage) {
  if (lastDecisionAt === null || age === null) return '○ Nothing was decided yet.';
  return (
    <>
      {isLate ? '▲ Late: the' : '● The'} last decision was on <Moment at={lastDecisionAt} />, {spoken(age)} ago.
    </>
  );
}

function spoken(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} seconds`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
}
