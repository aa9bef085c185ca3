import { useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import type { Preset } from './presets.ts';
import css from './Sandbox.module.css';
import { texts } from './texts.ts';

/** One preset: what it is called, whom the agent talks with, and what stands for the variables of the prompt. */
const PresetDialog = (props: {
  preset: Preset;
  /** Names that are taken. */
  others: readonly string[];
  variables: readonly string[];
  onDone: (preset: Preset) => void;
  /** Of one that is there. */
  onRemove: (() => void) | undefined;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const [preset, setPreset] = useState(props.preset);
  const [problem, setProblem] = useState<string>();
  const names = [...new Set([...props.variables, ...Object.keys(preset.variables)])];
  const done = (): void => {
    const name = preset.name.trim();
    if (name === '') setProblem(t('preset.required'));
    else if (props.others.includes(name)) setProblem(t('preset.taken'));
    else {
      const filled = Object.entries(preset.variables).filter(([, value]) => value !== '');
      props.onDone({ name, persona: preset.persona.trim(), variables: Object.fromEntries(filled) });
    }
  };
  return (
    <Dialog title={t(props.onRemove ? 'preset.edit' : 'preset.new')} size={520} onClose={props.onClose}>
      <form
        className={css.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          done();
        }}
      >
        <p className={css.hint}>{t('preset.text')}</p>
        <Field label={t('preset.name')} error={problem} required>
          {(control) => (
            <input
              {...control}
              type="text"
              data-autofocus
              value={preset.name}
              onChange={({ target }) => {
                setProblem(undefined);
                setPreset({ ...preset, name: target.value });
              }}
            />
          )}
        </Field>
        <Field label={t('preset.persona')} hint={t('preset.persona.hint')}>
          {(control) => (
            <textarea
              {...control}
              rows={3}
              value={preset.persona}
              onChange={({ target }) => setPreset({ ...preset, persona: target.value })}
            />
          )}
        </Field>
        {names.length === 0 && <p className={css.hint}>{t('preset.variables.none')}</p>}
        {names.map((name) => (
          <Field key={name} label={`{${name}}`}>
            {(control) => (
              <input
                {...control}
                type="text"
                value={preset.variables[name] ?? ''}
                onChange={({ target }) =>
                  setPreset({ ...preset, variables: { ...preset.variables, [name]: target.value } })
                }
              />
            )}
          </Field>
        ))}
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
