import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { Call } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { endOf, runCalls, seenIn, startWith, stateIn, toolsIn } from './agents.ts';

/** Skills in real runs: agent-loop.md 14.3 and 20, check 19. */

const agent = (plugin_ids: string[], more: object = {}) => ({
  id: 'own',
  model_id: 'steps',
  system_prompt: 'Prompt.',
  plugin_ids,
  ...more,
});
const SKILLS = ['skills-discovery', 'skills-active-instructions'];

const files = (t: Test, content: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-skills-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};

const NOTES = `---
name: Notes
description: Keeps <notes>
allowed-tools: note
arguments:
  - name: topic
    required: true
---
Keep notes about \${topic}.`;

const withSkills = (t: Test, more: object = {}, plugin_ids: string[] = SKILLS) =>
  startWith(t, {
    settings: {
      seed: {
        profile: 'demo',
        skills_dir: files(t, {
          'notes/SKILL.md': NOTES,
          'notes/references/a.md': 'Read me.',
          'notes/scripts/hi.js': "console.log('hi ' + process.argv[2])",
        }),
      },
    },
    agents: [agent(plugin_ids, more)],
    tools: createTestTools().tools,
  });

t.test('19: activates a skill by its id, and keeps its instructions in the prompt', async (t) => {
  const troupe = await withSkills(t);
  const { results, requests, events } = await runCalls(
    troupe,
    ['c1', 'skill', { skill: 'greeting' }],
    ['c2', 'skill', { skill: 'nope' }],
    ['c3', 'skill', {}],
  );
  t.match(results, [
    {
      status: 'success',
      data: { activated: true, skill_id: 'greeting' },
      message: 'Launching skill: greeting',
    },
    {
      status: 'error',
      data: { error: { code: 'unknown_skill' } },
      message: '[unknown_skill] Unknown skill: nope',
    },
    { status: 'error', message: "[invalid_arguments] missing 'skill'" },
  ]);
  for (const { system } of requests)
    t.match(system.join('\n'), /<available_skills>[\s\S]*<name>greeting<\/name>/);
  t.notMatch(seenIn(requests[0]).join('\n'), /active_skill_instructions/);
  for (const request of requests.slice(1)) {
    t.match(
      seenIn(request).at(-1),
      /^system: <active_skill_instructions>\n<skill_instruction skill="greeting">\n.*\n<\/skill_instruction>\n<\/active_skill_instructions>$/,
    );
  }
  t.match(stateIn(events), { skills: { active: ['greeting'] } });
  await troupe.restart();
  const later = await runCalls(troupe);
  t.match(seenIn(later.requests[0]).at(-1), /skill="greeting"/, 'the instructions are kept after a restart');
});

t.test('supports arguments, resources and scripts for file skills, but not for managed ones', async (t) => {
  const troupe = await withSkills(t);
  const { results, requests } = await runCalls(
    troupe,
    ['c1', 'skill', { skill: 'notes' }],
    ['c2', 'skill', { skill: 'notes', arguments: { topic: 'birds', more: 1 } }],
    ['c3', 'skill', { skill: 'notes', arguments: { topic: 'birds' } }],
    ['c4', 'load_skill_resource', { skill: 'notes', path: 'references/a.md' }],
    ['c5', 'load_skill_resource', { skill: 'notes', path: '../../../etc/passwd' }],
    ['c6', 'skill_script', { skill: 'notes', script: 'scripts/hi.js', args: ['$HOME'] }],
    ['c7', 'skill_script', { skill: 'greeting', script: 'scripts/hi.js' }],
  );
  t.match(results, [
    { status: 'error', message: "[invalid_arguments] missing required argument 'topic' for skill 'notes'" },
    { message: "[invalid_arguments] unknown argument 'more' for skill 'notes'" },
    { data: { activated: true, skill_id: 'notes' } },
    { data: { loaded: true, skill_id: 'notes', kind: 'reference', content: 'Read me.', truncated: false } },
    { status: 'error', message: /^\[(invalid_path|unsupported_path|path_escapes_root)\] / },
    { data: { ok: true, exit_code: 0, stdout: 'hi $HOME\n' } },
    { message: /^\[unsupported_operation\] / },
  ]);
  t.match(seenIn(requests[3]).at(-1), /Keep notes about birds\./);
  t.match(requests[0]?.system.join('\n'), /<description>Notes: Keeps &lt;notes&gt;<\/description>/);
});

t.test('offers only the skills of the allowlist of the agent', async (t) => {
  const troupe = await withSkills(t, { sections: { skills: { allowlist: ['notes'] } } });
  const { results, requests } = await runCalls(troupe, ['c1', 'skill', { skill: 'greeting' }]);
  t.match(results, [{ message: '[unknown_skill] Unknown skill: greeting' }]);
  t.match(requests[0]?.system.join('\n'), /<name>notes<\/name>/);
  t.notMatch(requests[0]?.system.join('\n'), /greeting/);
});

const ask = (...rules: object[]) => ({
  sections: {
    permission: { default_behavior: 'ask', rules: [{ tool: 'skill', behavior: 'allow' }, ...rules] },
  },
});

t.test('exempts the tools of an active skill from approval in its run unless they are denied', async (t) => {
  const activate: Call = ['c1', 'skill', { skill: 'notes', arguments: { topic: 'x' } }];
  await t.test('allowed', async (t) => {
    const troupe = await withSkills(t, ask(), [...SKILLS, 'permission']);
    const { events, results } = await runCalls(troupe, activate, ['c2', 'note']);
    t.match(results[1], { status: 'success' });
    t.notOk('permission_overrides' in stateIn(events), 'the state shows no grant');
    const later = await runCalls(troupe, ['c3', 'note']);
    t.match(endOf(later.events), { termination: { type: 'suspended' } }, 'the grant ends with its run');
  });
  await t.test('denied', async (t) => {
    const troupe = await withSkills(t, ask({ tool: 'note', behavior: 'deny' }), [...SKILLS, 'permission']);
    const { events } = await runCalls(troupe, activate, ['c2', 'note']);
    t.match(endOf(events), { termination: { type: 'blocked', value: /'note' denied/ } });
  });
  await t.test('without the permission plugin', async (t) => {
    const { events, results } = await runCalls(await withSkills(t), activate, ['c2', 'note']);
    t.match(results, [{ status: 'success' }, { status: 'success' }]);
    t.match(endOf(events), { termination: { type: 'natural_end' } });
  });
});

t.test('offers the deferred tools of an activated skill', async (t) => {
  const troupe = await withSkills(
    t,
    {
      sections: {
        deferred_tools: { enabled: true, rules: [{ tool: 'note', mode: 'deferred' }], default_mode: 'eager' },
      },
    },
    [...SKILLS, 'ext-deferred-tools'],
  );
  const { requests } = await runCalls(troupe, ['c1', 'skill', { skill: 'notes', arguments: { topic: 'x' } }]);
  t.notOk(toolsIn(requests[0]).includes('note'));
  t.ok(toolsIn(requests[1]).includes('note'));
});
