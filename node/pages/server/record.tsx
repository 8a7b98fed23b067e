import { CHECKS } from '../../../protocol/verdict/problem.ts';
import { CHECK_WORDS, NOT_PROVEN } from '../../../protocol/verdict/plain-words.ts';
import { STATES, stateOf } from '../state.ts';
import type { RecordPage, RecordReport, Root } from '../page.ts';
import { Code, Foreign, Moment } from './foreign.tsx';
import { QrCode } from './qr-code.tsx';

/** One record: what this node reports of it, and what the visitor's own machine finds. */
export function RecordView({ page, root }: { readonly page: RecordPage; readonly root: Root }) {
  const { id, report } = page;
  if (report === null) return <Unknown id={id} root={root} />;
  const state = STATES[stateOf(report.word, false)];
  return (
    <>
      <h1>{sentenceOf(report)}</h1>
      <p class={`state ${stateOf(report.word, false)}`}>
        <span aria-hidden="true">{state.mark}</span> {state.title}. <strong>Reported by this node.</strong> Nothing on
        this page so far was worked out by your machine.
      </p>
      <Own page={page} root={root} />
      <Checks report={report} />
      <Witnesses report={report} />
      <section aria-labelledby="not">
        <h2 id="not">What this does not prove</h2>
        <ul>
          {NOT_PROVEN.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </section>
      <Downloads page={page} root={root} />
    </>
  );
}

function Unknown({ id, root }: { readonly id: string; readonly root: Root }) {
  return (
    <>
      <h1>No record of this id is known here</h1>
      <p>
        <Code text={id} />
      </p>
      <p>
        A record is known at its own node at once, and at the others once its batch has come to them. Ids are long: was
        all of it copied?
      </p>
      <form action={`${root}v`} method="get" role="search">
        <label for="id">Id of a record</label>
        <input id="id" name="id" required maxLength={80} autocomplete="off" spellcheck={false} />
        <button type="submit">Look up</button>
      </form>
    </>
  );
}

/** The verdict in a sentence, of what the node reports. */
function sentenceOf({ node, submittedAt, ledger, witnesses, members, word }: RecordReport): string {
  if (stateOf(word, false) === 'does-not-hold') return 'This record does not hold';
  const signed = `Node ${node} signed this record${submittedAt === null ? '' : ` on ${dayOf(submittedAt)}`}`;
  if (ledger === null) return `${signed}; the ledger does not have its batch yet`;
  const others = members === null ? '' : ` of ${members - 1} other`;
  const vouched = `${witnesses.length}${others} members vouch for it`;
  return `${signed}; the ledger ${ledger.network} has its batch since ${dayOf(ledger.at)}, and ${vouched}`;
}

function dayOf(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}

/** Where the script of the page shows what it found; without it, what to do instead. */
function Own({ page, root }: { readonly page: RecordPage; readonly root: Root }) {
  return (
    <section aria-labelledby="own" class="own">
      <h2 id="own">Checked in this browser</h2>
      <div id="own-check" data-id={page.id} data-root={root}>
        <p>
          Your browser runs no script here. Take the <a href={`${root}v1/proofs/${page.id}`}>public proof</a> and check
          it on a machine of your own: with the file <code>meridian-verify.html</code>, or <code>npm run verify</code>.
        </p>
      </div>
      <p>
        This node names a federation with the fingerprint below. Compare it with one that you have from elsewhere: a
        node that lies would show its own.
      </p>
      <p>
        <Code text={page.fingerprint} />
      </p>
    </section>
  );
}

function Checks({ report }: { readonly report: RecordReport }) {
  const { checks, problems, payloadState } = report;
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">What this node checked</h2>
      <ul class="checks">
        {CHECKS.map((check) => {
          const isWithheld = check === 'payloadHashMatch' && !checks[check];
          return (
            <li key={check}>
              <span aria-hidden="true">{checks[check] ? '✔' : isWithheld ? '–' : '✕'}</span> {CHECK_WORDS[check]}:{' '}
              <strong>{checks[check] ? 'holds' : isWithheld ? 'not looked at' : 'does not hold'}</strong>{' '}
              <code>{check}</code>
            </li>
          );
        })}
      </ul>
      {payloadState === 'erased' ? (
        <p>The content was erased: its key is destroyed. The record and its proof stand.</p>
      ) : null}
      {problems.length === 0 ? null : (
        <>
          <h3>What speaks against it</h3>
          <ul>
            {problems.map(({ code, detail }) => (
              <li key={`${code} ${detail}`}>
                <code>{code}</code> <Foreign text={detail} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Witnesses({ report }: { readonly report: RecordReport }) {
  const { kind, node, submittedAt, ledger, witnesses, links } = report;
  return (
    <section aria-labelledby="who">
      <h2 id="who">By whom</h2>
      <dl>
        <dt>Kind of record</dt>
        <dd>
          <Foreign text={kind} />
        </dd>
        <dt>Signed by</dt>
        <dd>
          node <Foreign text={node} />
          {submittedAt === null ? null : (
            <>
              , <Moment at={submittedAt} />
            </>
          )}
        </dd>
        <dt>On the ledger</dt>
        <dd>
          {ledger === null ? (
            'not yet'
          ) : (
            <>
              <Foreign text={ledger.network} />, topic <code>{ledger.topicId}</code>, message {ledger.sequence},{' '}
              <Moment at={ledger.at} />
            </>
          )}
        </dd>
        <dt>Vouched for by</dt>
        <dd>{witnesses.length === 0 ? 'nobody yet' : witnesses.join(', ')}</dd>
        <dt>Linked to it</dt>
        <dd>
          {links.overrides} reviews, {links.incidents} incidents{links.session ? ', a session' : ''}
        </dd>
      </dl>
    </section>
  );
}

function Downloads({ page, root }: { readonly page: RecordPage; readonly root: Root }) {
  const { id, url } = page;
  return (
    <section aria-labelledby="files">
      <h2 id="files">Files</h2>
      <ul>
        <li>
          <a href={`${root}v1/proofs/${id}`} download={`${id}.proof.json`}>
            Public proof
          </a>
          : all that is needed to check the record, without its content
        </li>
        <li>
          <a href={`${root}v1/certificates/${id}`}>Certificate</a>: one page as PDF, with the public proof inside
        </li>
        <li>
          <a href={`${root}v1/verify/${id}`}>What this node reports, as JSON</a>
        </li>
      </ul>
      <p>
        Its address: <Code text={url} />
      </p>
      <QrCode text={url} label="Address of this page" />
      <details>
        <summary>On the command line</summary>
        <pre tabIndex={0}>{`curl -o proof.json ${url.replace(/\/v\/[^/]*$/, '')}/v1/proofs/${id}
node meridian-verify.mjs proof.json --roster sha256:…`}</pre>
      </details>
    </section>
  );
}
