import t from 'tap';
import { judgeTools, withOfferedTools } from '../../src/models/provider-tools.ts';
import type { ProviderTool } from '../../src/schema/provider-tool.ts';
import { requestOf } from './infer.ts';

const search: ProviderTool = { type: 'web_search' };
const fetching: ProviderTool = { type: 'web_fetch' };
const code: ProviderTool = { type: 'code_execution' };
const files: ProviderTool = { type: 'file_search', store_ids: ['s'] };
const ALL = [search, fetching, code, files];

type Row = [
  adapter: string,
  upstream: string,
  tools: readonly ProviderTool[],
  offered: readonly ProviderTool['type'][],
  hasFunctions?: boolean,
];

const ROWS: readonly Row[] = [
  ['anthropic', 'claude-sonnet-4-5', ALL, ['web_search', 'web_fetch', 'code_execution'], true],
  ['anthropic', 'claude-3-haiku-20240307', ALL, []],
  ['anthropic', 'a-model-of-a-proxy', [search], ['web_search']],
  ['anthropic', 'claude-sonnet-4-5', [{ ...code, file_ids: ['f'] }], []],
  ['openai_resp', 'gpt-5', ALL, ['web_search', 'code_execution', 'file_search'], true],
  ['openai_resp', 'gpt-4.1-nano', [search, files], ['file_search']],
  ['openai_resp', 'gpt-5', [{ ...search, max_uses: 2 }], ['web_search']],
  ['openai_resp', 'gpt-5', [{ ...search, max_uses: 2 }, code], ['code_execution']],
  ['gemini', 'gemini-2.5-pro', [search, fetching, code], ['web_search', 'web_fetch', 'code_execution']],
  ['gemini', 'gemini-2.5-pro', [search], [], true],
  ['gemini', 'models/gemini-3-pro-preview', [search], ['web_search'], true],
  ['gemini', 'gemini-2.5-pro', ALL, ['web_search', 'web_fetch', 'code_execution']],
  ['gemini', 'gemini-2.5-pro', [files], ['file_search']],
  ['gemini', 'gemini-2.0-flash', [search, fetching, files], ['web_search']],
  ['gemini', 'gemini-1.5-pro', [search, code], []],
  ['gemini', 'gemma-3-27b-it', [search], []],
  ['gemini', 'gemini-2.5-pro', [{ ...search, allowed_domains: ['a.example'] }], []],
  ['gemini', 'gemini-2.5-pro', [{ ...search, blocked_domains: ['a.example'] }], []],
  ['gemini', 'gemini-2.5-pro', [{ ...search, user_location: { country: 'DE' } }], ['web_search']],
  ['vertex', 'publishers/google/models/gemini-2.5-pro', [search, files], ['web_search']],
  ['vertex', 'gemini-2.5-pro', [{ ...search, blocked_domains: ['a.example'] }], ['web_search']],
  ['vertex', 'gemini-3-pro', [search], [], true],
  ['openai', 'gpt-5', ALL, []],
  ['scripted', 'any', ALL, []],
  ['constructor', 'any', ALL, []],
];

for (const [adapter, upstream, tools, offered, hasFunctions = false] of ROWS) {
  const names = tools.map(({ type }) => type).join();
  t.test(`${adapter} ${upstream} with ${names}${hasFunctions ? ' and functions' : ''}`, async (t) => {
    const judged = judgeTools(tools, { adapter, upstream, hasFunctions });
    t.strictSame(
      judged.offered.map(({ type }) => type),
      offered,
    );
    t.equal(judged.leftOut.length, tools.length - offered.length);
    t.ok(judged.leftOut.every(({ reason }) => reason !== ''));
  });
}

t.test('returns a request without provider tools unchanged', async (t) => {
  const request = requestOf('Hi');
  t.equal(withOfferedTools(request, { adapter: 'openai', upstream: 'gpt-5' }), request);
});

t.test('offers no provider tools when calls are forbidden or a service tool is forced', async (t) => {
  const place = { adapter: 'anthropic', upstream: 'claude-sonnet-4-5' };
  const offeredWith = (toolChoice: 'auto' | 'none' | 'required' | { tool: string }) =>
    withOfferedTools(requestOf('Hi', { provider_tools: [search], toolChoice }), place).provider_tools;
  t.strictSame(offeredWith('none'), []);
  t.strictSame(offeredWith({ tool: 'clock' }), []);
  t.strictSame(offeredWith('auto'), [search]);
  t.strictSame(offeredWith('required'), [search]);
});
