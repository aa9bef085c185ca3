import { useState } from 'react';
import { isObject } from '../data/guard.ts';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import look from '../design/Look.module.css';
import { useTexts } from '../i18n/locale.ts';
import { wordsFrom } from '../schema-form/hints.ts';
import { SchemaForm } from '../schema-form/SchemaForm.tsx';
import { Preset } from './presets.ts';
import { texts } from './texts.ts';

const UI = {
  name: { 'ui:required': true },
  persona: { 'ui:widget': 'textarea', 'ui:options': { rows: 3 } },
};

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
const PresetDialog = (props: {
  preset: Preset;
  /** Names of the other presets. */
  others: readonly string[];
  variables: readonly string[];
  onDone: (preset: Preset) => void;
  /** Undefined for a new preset. */
  onRemove: (() => void) | undefined;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const [value, change] = useState<object>(props.preset);
  const [problem, setProblem] = useState<string>();
  const names = [...new Set([...props.variables, ...Object.keys(props.preset.variables)])];
  const done = (): void => {
    const { name, persona, variables } = Preset(value, '');
    const trimmed = name.trim();
    if (trimmed === '') setProblem(t('preset.required'));
    else if (props.others.includes(trimmed)) setProblem(t('preset.taken'));
    else props.onDone({ name: trimmed, persona: persona.trim(), variables });
  };
  return (
    <Dialog title={t(props.onRemove ? 'preset.edit' : 'preset.new')} size={520} onClose={props.onClose}>
      <form
        className={look.stack}
        data-wide
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          done();
        }}
      >
        <p className={look.quiet}>{t('preset.text')}</p>
        <SchemaForm
          label={t('preset')}
          schema={schemaOf(names)}
          value={isObject(value) ? value : {}}
          fields={['name', 'persona', ...(names.length > 0 ? ['variables'] : [])]}
          ui={UI}
          words={wordsFrom(t, texts, (place) => `preset.${place}`)}
          errors={new Map(problem === undefined ? [] : [['name', problem]])}
          onChange={(next) => {
            setProblem(undefined);
            change(next);
          }}
        />
        {names.length === 0 && <p className={look.quiet}>{t('preset.variables.none')}</p>}
        <DialogActions>
          {props.onRemove && (
            <Button tone="danger" onClick={props.onRemove}>
              {t('preset.remove')}
            </Button>
          )}
          <Button onClick={props.onClose}>{t('preset.cancel')}</Button>
          <Button type="submit" tone="primary">
            {t('preset.keep')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};

export default PresetDialog;
