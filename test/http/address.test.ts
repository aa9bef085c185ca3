import t from 'tap';
import { clientAddress, createProxyCheck, shortAddress } from '../../src/http/address.ts';

t.test('shortens IPv6 addresses and unwraps IPv4 addresses in them', (t) => {
  const table: [string, string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['', ''],
  ];
  for (const [peer, address] of table) t.equal(shortAddress(peer), address);
  t.end();
});

t.test('takes the last hop that is not a trusted proxy as the client', (t) => {
  const isProxy = createProxyCheck(['loopback', 'private', '198.51.100.0/24', '2001:db8:1::/48']);
  const table: [lines: string[], address: string][] = [
    [[], '127.0.0.1'],
    [['203.0.113.7'], '203.0.113.7'],
    [['192.0.2.1, 203.0.113.7'], '203.0.113.7'],
    [['192.0.2.1, 203.0.113.7, 10.0.0.1'], '203.0.113.7'],
    [['203.0.113.7', '198.51.100.9, 192.168.0.1'], '203.0.113.7'],
    [['203.0.113.7, ::ffff:10.0.0.1'], '203.0.113.7'],
    [['2001:0db8:2::1, 2001:db8:1::5'], '2001:db8:2::1'],
    [['10.0.0.2, 10.0.0.1'], '10.0.0.2'],
    [['203.0.113.7, not an address, 10.0.0.1'], '10.0.0.1'],
    [['<script>'], '127.0.0.1'],
    [[' '], '127.0.0.1'],
  ];
  for (const [lines, address] of table) t.equal(clientAddress(lines, '127.0.0.1', isProxy), address);
  t.end();
});

t.test('treats every address as a client without trusted proxies', (t) => {
  const isProxy = createProxyCheck([]);
  for (const address of ['127.0.0.1', '::1', '10.0.0.1', '']) t.equal(isProxy(address), false);
  t.end();
});
