import { Field } from '../../../design/Field.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { toastError } from '../../../shell/toasts.ts';
import { copyOf } from '../draft.ts';
import type { Draft } from '../panel.ts';
import { readSpec } from '../use-opened.ts';
import { texts } from './texts.ts';

/** A new agent begins as a copy of another; its own id stays. */
export const StartFrom = (props: {
  agents: readonly string[];
  localKind: string;
  id: string;
  onTake: (draft: Draft) => void;
}) => {
  const t = useTexts(texts);
  const take = async (from: string): Promise<void> => {
    try {
      props.onTake({ ...copyOf(await readSpec(from), props.localKind), id: props.id });
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Field label={t('from')} hint={t('from.hint')}>
      {(control) => (
        <select
          {...control}
          value=""
          onChange={(event) => event.target.value && void take(event.target.value)}
        >
          <option value="">{t('from.blank')}</option>
          {props.agents
            .filter((id) => !id.includes('/'))
            .map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
        </select>
      )}
    </Field>
  );
};
