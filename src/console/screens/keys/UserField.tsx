import { useId } from 'react';
import { useResource } from '../../data/queries.ts';
import { InputField } from '../../design/Inputs.tsx';
import type { SeenProps } from '../../schema-form/context.ts';
import { nothing } from '../../schema-form/hints.ts';
import { useFieldProps } from '../../schema-form/scalars.tsx';
import { someUsers } from '../users/user.ts';

/** A widget of the schema form for the id of a user, with suggestions if the users can be read. */
export const UserField = (props: SeenProps) => {
  const field = useFieldProps(props);
  const options = useId();
  const { items = [] } = useResource(someUsers).data ?? {};
  return (
    <>
      <InputField
        {...field}
        list={options}
        autoComplete="off"
        spellCheck={false}
        value={typeof props.value === 'string' ? props.value : ''}
        onChange={(typed) => props.onChange(typed === '' ? nothing(props, '') : typed)}
      />
      <datalist id={options}>
        {items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
};
