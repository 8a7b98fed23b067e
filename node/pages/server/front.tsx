import type { FrontPage, Root } from '../page.ts';
import { Code, Foreign } from './foreign.tsx';
import { Members } from './members.tsx';

/** What this node is, how it is, and how to begin. */
export function Front({ page, root }: { readonly page: FrontPage; readonly root: Root }) {
  const {
    node,
    region,
    version,
    federation,
    fingerprint,
    fingerprintWords,
    quorum,
    ledger,
    members,
    healthy,
    troubles,
  } = page;
  return (
    <>
      <h1>
        Node <Foreign text={node} /> of the federation <Foreign text={federation} />
      </h1>
      <p class="lead">
        It signs records of AI decisions, has a public ledger put them in order, and lets anyone verify them: without an
        account, and without trusting this node.
      </p>
      <p class={healthy ? 'state good' : 'state bad'}>
        {healthy ? '● It accepts records.' : '▲ It is not well:'}
        {troubles.length === 0 ? null : ` ${troubles.join(', ')}.`} <a href={`${root}v1/health`}>Details</a>
      </p>
      <section aria-labelledby="look-up">
        <h2 id="look-up">Look up a record</h2>
        <form action={`${root}v`} method="get" role="search">
          <label for="id">Id of a record</label>
          <input
            id="id"
            name="id"
            required
            maxLength={80}
            pattern="att_[a-z0-9\-]+_[0-9A-Z]{26}"
            title="att_, the node, and 26 letters and digits"
            autocomplete="off"
            spellcheck={false}
          />
          <button type="submit">Look up</button>
        </form>
        <p>
          You have a file instead? <a href={`${root}check`}>Check it on your own machine</a>; nothing is uploaded.
        </p>
      </section>
      <section aria-labelledby="begin">
        <h2 id="begin">How to begin</h2>
        <ol>
          <li>
            Sign up: <code>POST /v1/sign-up</code> with your mail address; the API key comes by mail.
          </li>
          <li>
            Record a decision: <code>POST /v1/attest</code> with <code>sourceId</code> and <code>data</code>.
          </li>
          <li>
            Within a minute the ledger has it and the other members vouch for it: its page here says so, and your own
            machine checks it.
          </li>
        </ol>
        <p>
          <a href={`${root}docs`}>Reference of the API</a> · <a href={`${root}llms.txt`}>What is sold by the call</a>
        </p>
      </section>
      <section aria-labelledby="members">
        <h2 id="members">Members</h2>
        <Members members={members} />
        <dl>
          <dt>Ledger</dt>
          <dd>
            <Foreign text={ledger} />
          </dd>
          <dt>Quorum</dt>
          <dd>{`${quorum} of ${members.length} members`}</dd>
          <dt>Fingerprint of the federation</dt>
          <dd>
            <Code text={fingerprint} />
          </dd>
          <dt>The same in 24 words, to be read out</dt>
          <dd>
            <Foreign text={fingerprintWords} />
          </dd>
          <dt>This node</dt>
          <dd>
            <Foreign text={region} />, version {version}
          </dd>
        </dl>
        <p>
          Compare the fingerprint with one that you have from elsewhere, from a contract or from another member: a node
          that lies would show its own.
        </p>
      </section>
    </>
  );
}
