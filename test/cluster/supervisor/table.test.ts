import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClusterFile } from '../../../cluster/supervisor/cluster-file.ts';
import { clusterTable } from '../../../cluster/supervisor/table.ts';

const FILE: ClusterFile = {
  nodes: [{ id: 'us', region: 'US/Virginia', baseUrl: 'http://127.0.0.1:4101', nodeUrl: '', pid: 1 }],
  ledger: { network: 'meridian-local', topicId: '0.0.5001', mirrorUrl: 'http://127.0.0.1:4310', pid: 2 },
  chain: { rpcUrl: 'http://127.0.0.1:4320', chainId: 8453, usdc: '0x1', payTo: '0x2', pid: 3 },
  mail: { smtpPort: 4330, directory: '/home/mail', pid: null },
  demo: {
    apiKeys: { developer: '', standard: '', professional: '', enterprise: '', bench: '' },
    wallet: { address: '', privateKey: '' },
  },
};

test('the table says where the chain is, or that there is none and what that means', () => {
  assert.match(clusterTable(FILE, '/home'), /^chain +eip155:8453 +http:\/\/127\.0\.0\.1:4320 +3$/m);
  assert.match(clusterTable({ ...FILE, chain: null }, '/home'), /^chain +none +no anvil: paid calls answer 503$/m);
});

test.run();
