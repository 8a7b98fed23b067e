import type { AgentPage, Root, WalletPage } from '../page.ts';
import { Code, Foreign, Moment } from './foreign.tsx';

/** An agent's identity: its DID document and keys. What is sold about it is not shown. */
export function AgentView({ page, root }: { readonly page: AgentPage; readonly root: Root }) {
  const { agentId, did, node, status, keys, price } = page;
  const path = encodeURIComponent(agentId);
  return (
    <>
      <h1>
        Agent <Foreign text={agentId} />
      </h1>
      <dl>
        <dt>State</dt>
        <dd>{status}</dd>
        <dt>Registered at node</dt>
        <dd>
          <Foreign text={node} />
        </dd>
        {did === null ? null : (
          <>
            <dt>DID</dt>
            <dd>
              <Code text={did} />
            </dd>
          </>
        )}
      </dl>
      <h2>Keys</h2>
      <ul>
        {keys.map(({ keyId, status: state, since }) => (
          <li key={keyId}>
            <Code text={keyId} />, {state}, since <Moment at={since} />
          </li>
        ))}
      </ul>
      <p>
        <a href={`${root}agents/${path}/did.json`}>DID document</a>
      </p>
      <h2>Its record</h2>
      <p>
        How often it acted, and how often a person stepped in, is sold by the call for {price} USD in USDC:{' '}
        <code class="wrap">{`GET /v1/x402/agent-record/${path}`}</code>. An agent with a wallet pays it by itself
        (x402).
      </p>
    </>
  );
}

/** How to buy what is known of a wallet address. Nothing of it is shown. */
export function WalletView({ page }: { readonly page: WalletPage }) {
  const { address, price, counterpartyPrice } = page;
  return (
    <>
      <h1>
        Wallet <Code text={address} />
      </h1>
      <p>What this service settled with the address is sold by the call, and shown nowhere else:</p>
      <dl>
        <dt>
          <code class="wrap">{`GET /v1/x402/wallet-record/${address}`}</code>
        </dt>
        <dd>{`its settlements with this service, ${price} USD`}</dd>
        <dt>
          <code class="wrap">{`GET /v1/x402/check-counterparty/${address}`}</code>
        </dt>
        <dd>{`match, review or clear against six sanctions lists, ${counterpartyPrice} USD`}</dd>
      </dl>
      <p>Both are paid in USDC on Base by the x402 protocol; the answer without a payment names the terms.</p>
    </>
  );
}
