import { useState } from 'react';
import type { JsonObject } from '../data/guard.ts';
import { Button } from '../design/Button.tsx';
import { RequestDialog } from '../fixtures/RequestDialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import { wordsFrom } from '../schema-form/hints.ts';
import { Preset } from './presets.ts';
import texts from './texts.json' with { type: 'json' };

const UI = { name: { 'ui:required': true }, persona: { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } } };

const schemaOf = (names: readonly string[]) => ({
  type: 'object',
  properties: {
    name: { type: 'string' },
    persona: { type: 'string' },
    variables: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', title: `{${name}}` }])),
    },
  },
});

/** The form of one preset: its name, the user that the agent talks with, and the values of the prompt's variables. */
export default function PresetDialog(props: {
  preset: Preset;
  others: readonly string[];
  variables: readonly string[];
  onDone: (preset: Preset) => void;
  /** Undefined for a new preset. */
  onRemove: (() => void) | undefined;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  const { preset, others, variables, onDone, onRemove, onClose } = props;
  const [value, change] = useState<JsonObject>(preset);
  const names = [...new Set([...variables, ...Object.keys(preset.variables)])];
  const keep = async (): Promise<ReadonlyMap<string, string> | undefined> => {
    const kept = Preset(value, '');
    const [name, persona] = [kept.name.trim(), kept.persona.trim()];
    if (name === '') return new Map([['name', t('preset.required')]]);
    if (others.includes(name)) return new Map([['name', t('preset.taken')]]);
    onDone({ ...kept, name, persona });
    return undefined;
  };
  return (
    <RequestDialog
      title={t(onRemove ? 'preset.edit' : 'preset.new')}
      submit={t('preset.keep')}
      notice={
        <p className="quiet">
          {t('preset.text')} {names.length === 0 && t('preset.variables.none')}
        </p>
      }
      extra={
        onRemove && (
          <Button tone="danger" onClick={onRemove}>
            {t('preset.remove')}
          </Button>
        )
      }
      schema={schemaOf(names)}
      fields={['name', 'persona', ...(names.length > 0 ? ['variables'] : [])]}
      ui={UI}
      words={wordsFrom(t, texts, (place) => `preset.${place}`)}
      value={value}
      onChange={change}
      onSubmit={keep}
      onClose={onClose}
    />
  );
}
