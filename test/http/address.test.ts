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
