import t from 'tap';
import { isLocalName, isLoopback } from '../../src/schema/loopback.ts';
import { hasUserInfo, isWebAddress } from '../../src/schema/web-address.ts';

t.test('recognizes absolute web URLs', (t) => {
  for (const address of ['http://h', 'HTTPS://h/v1?x=1', ' https://h']) t.equal(isWebAddress(address), true);
  for (const address of ['', '/v1', 'h:80/v1', 'file:///etc/passwd', 'http://', 'x http://h'])
    t.equal(isWebAddress(address), false, address);
  t.end();
});

t.test('finds a user name or a password in a URL', (t) => {
  for (const address of ['https://u:p@h', 'https://u@h', 'https://:p@h']) t.equal(hasUserInfo(address), true);
  for (const address of ['https://h/u:p@x', 'no address', 'https://h']) t.equal(hasUserInfo(address), false);
  t.end();
});

t.test('recognizes loopback hosts by name and by address', (t) => {
  for (const host of ['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]'])
    t.equal(isLoopback(host), true, host);
  t.equal(isLoopback('[::ffff:127.0.0.1]'), true, 'the address is mapped to IPv6');
  for (const host of ['10.0.0.1', '[fe80::1]', 'example.com', 'notlocalhost', 'localhost.example', ''])
    t.equal(isLoopback(host), false, host);
  t.equal(isLocalName('127.0.0.1'), false);
  t.end();
});
