import { createContext, useContext, useState } from 'react';
import type { JsonObject } from '../../../data/guard.ts';
import { sectionOf } from '../../../data/spec.ts';
import { Button } from '../../../design/Button.tsx';
import { Chip } from '../../../design/Chip.tsx';
import { InputField } from '../../../design/Inputs.tsx';
import { EntryPart } from '../../../entry/EntryFields.tsx';
import { textOf } from '../../../entry/entry.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { type SeenProps, unreadAt } from '../../../schema-form/context.ts';
import { wordsFrom } from '../../../schema-form/hints.ts';
import { useFieldProps } from '../../../schema-form/scalars.tsx';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { ruleRows } from '../tools/permission.ts';
import { type Settings, sectionFields } from './plugin-settings.ts';
import texts from './texts.json' with { type: 'json' };

/** The settings of one plugin, as a form or as JSON. */

const Known = createContext<{ section: JsonObject; tools: readonly string[] }>({ section: {}, tools: [] });

const SHOWN_MATCHES = 3;

/** The pattern of a permission rule, with the tools that it matches and the rule that overrules it. */
const RuleTool = (props: SeenProps) => {
  const t = useTexts(texts);
  const { section, tools } = useContext(Known);
  const field = useFieldProps(props);
  const row = ruleRows(section, tools)[Number(props.path.split('.').at(-2))];
  const names = row?.matches.slice(0, SHOWN_MATCHES).join(', ');
  const isCut = row && row.matches.length > SHOWN_MATCHES;
  const hint = row && (
    <>
      {t('rule.matches', { count: row.matches.length })} <code>{names}</code>
      {isCut && ' …'}
      {row.overruledBy !== undefined && (
        <Chip tone="warn" icon="warn">
          {t('rule.overruled', { rule: row.overruledBy + 1 })}
        </Chip>
      )}
    </>
  );
  return (
    <InputField
      {...field}
      hint={hint}
      className="mono"
      spellCheck={false}
      value={textOf(props.value)}
      onChange={props.onChange}
    />
  );
};

const WIDGETS = { 'rule-tool': RuleTool };
const LONG = { 'ui:widget': 'textarea' };

/** Hints for the settings that every service has. */
const UI: Readonly<Record<string, JsonObject>> = {
  permission: {
    default_behavior: { 'ui:widget': 'buttons' },
    rules: { items: { tool: { 'ui:widget': 'rule-tool' } } },
  },
  'generative-ui': { examples: LONG, instructions: LONG },
  reminder: { rules: { items: { message: { content: LONG } } } },
};

export const Section = ({ settings }: { settings: Settings }) => {
  const t = useTexts(texts);
  const { form, capabilities } = useAgent();
  const { draft, unread } = form;
  const { key } = settings;
  const path = `sections.${key}`;
  const value = sectionOf(draft, key);
  const [isWanted, showJson] = useState(false);
  // Text that is not valid JSON exists only in the JSON view.
  const isJson = isWanted || path in unread;
  const tools = capabilities.tools.map(({ id }) => id);
  const own = wordsFrom(t, texts, (place) => `set.${key}.${place}`);
  const shared = wordsFrom(t, texts, (place) => `set.any.${place}`);
  return (
    <div className={css.section}>
      <Known value={{ section: value, tools }}>
        <EntryPart
          label={t('json.of', { what: settings.display_name || key })}
          schema={settings.schema}
          ui={{ ...settings.ui_schema, ...UI[key] }}
          words={(place) => own(place) ?? shared(place)}
          widgets={WIDGETS}
          value={value}
          path={path}
          onChange={(next) => form.set(sectionFields(draft, key, next))}
          asJson={isJson}
        />
      </Known>
      <Button
        small
        tone="quiet"
        aria-pressed={isJson}
        disabled={unreadAt(unread, path).length > 0}
        onClick={() => showJson(!isJson)}
      >
        {t('json')}
      </Button>
    </div>
  );
};
