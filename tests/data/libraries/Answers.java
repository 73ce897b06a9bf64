// An operator in Java, as TLC takes it from a jar. Compiled by: javac --release 8 -cp tla2tools.jar Answers.java
import tlc2.value.impl.IntValue;
import tlc2.value.impl.Value;

public class Answers {
    public static Value Answer() {
        return IntValue.gen(2);
    }
}
