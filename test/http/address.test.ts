import t from 'tap';
import { clientAddress } from '../../src/http/address.ts';

t.test('IPv6 addresses are short, and IPv4 in them is IPv4', (t) => {
  const table: [string, string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['', ''],
  ];
  for (const [peer, address] of table)
    t.equal(
      clientAddress(() => undefined, peer, true),
      address,
    );
  t.end();
});

t.test('a proxy names a client by its address, and by nothing else', (t) => {
  const table: [forwarded: string | undefined, real: string | undefined, address: string][] = [
    ['203.0.113.7, 10.0.0.1', '198.51.100.1', '203.0.113.7'],
    ['not an ip', '198.51.100.1', '198.51.100.1'],
    ['<script>', undefined, '127.0.0.1'],
    ['2001:db8::1', undefined, '2001:db8::1'],
  ];
  for (const [forwarded, real, address] of table) {
    const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : real);
    t.equal(clientAddress(header, '127.0.0.1', true), address);
    t.equal(clientAddress(header, '127.0.0.1', false), '127.0.0.1');
  }
  t.end();
});
