package kraft.tests;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import kafka.server.QuorumTestHarness;

class ClassesTest {
    @Test
    void aClassIsListedWhoseTestsStartAClusterWhetherTheyArePublicOrNot() {
        assertTrue(Classes.isListed("org.apache.kafka.tools.FeatureCommandTest"));
        assertTrue(Classes.isListed(Tests.class.getName()));
        assertTrue(Classes.isListed(Inherits.class.getName()));
        assertFalse(Classes.isListed(HasNoTests.class.getName()));
        assertFalse(Classes.isListed(ClassesTest.class.getName()));
    }

    @Test
    void aClassThatCannotBeLoadedIsListed() {
        assertTrue(Classes.isListed("kafka.server.IsMissingTest"));
    }

    static class Tests extends QuorumTestHarness {
        @Test
        void starts() {
        }
    }

    static class Inherits extends Tests {
    }

    static class HasNoTests extends QuorumTestHarness {
    }
}
