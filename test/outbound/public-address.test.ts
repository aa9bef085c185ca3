import t from 'tap';
import { isPublicAddress } from '../../src/outbound/public-address.ts';

t.test('recognizes public addresses of both families', async (t) => {
  const open = ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'];
  for (const address of open) t.ok(isPublicAddress(address), address);
  const closed = [
    ...['127.0.0.1', '127.255.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0.0.0.0'],
    ...['169.254.169.254', '100.64.0.1', '224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1'],
    ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '192.0.0.1'],
    ...[
      '::',
      '::1',
      '::ffff:10.0.0.1',
      '::7f00:1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12::1',
      'fec0::1',
    ],
    ...['ff02::1', '2001:db8::1', '3fff::1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', '4000::1', 'x'],
  ];
  for (const address of closed) t.notOk(isPublicAddress(address), address);
});
